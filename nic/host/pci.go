package host

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// PCIe is how a device is attached, and how it could be.
type PCIe struct {
	Speed, MaxSpeed float64 // GT/s of a lane
	Width, MaxWidth int     // lanes
}

// Rate is the bits in a second that the lanes carry in each direction, without what headers of packets cost (a tenth at least).
func (p PCIe) Rate() float64 { return rate(p.Speed, p.Width) }

// MaxRate is Rate at the device's best.
func (p PCIe) MaxRate() float64 { return rate(p.MaxSpeed, p.MaxWidth) }

// rate takes off what the line code needs: 8 of 10 bits are left up to 5 GT/s, 128 of 130 after.
func rate(speed float64, width int) float64 {
	code := 128.0 / 130
	if speed <= 5 {
		code = 0.8
	}
	return speed * 1e9 * code * float64(width)
}

// PCIe reads how the device at an address such as 0000:03:00.0 is attached. errors.Is(err, fs.ErrNotExist) for one that is no PCI Express
// device, or that does not know: an emulated one.
func (r Root) PCIe(address string) (p PCIe, err error) {
	dir := "sys/bus/pci/devices/" + address + "/"
	for _, f := range []struct {
		name string
		to   *float64
	}{{"current_link_speed", &p.Speed}, {"max_link_speed", &p.MaxSpeed}} {
		s, err := r.Text(dir + f.name)
		if err != nil {
			return p, err
		}
		if *f.to, err = parseTransfers(s); err != nil {
			return p, fmt.Errorf("/%s%s: %w", dir, f.name, err)
		}
	}
	if p.Width, err = r.Int(dir + "current_link_width"); err != nil {
		return p, err
	}
	p.MaxWidth, err = r.Int(dir + "max_link_width")
	return p, err
}

// parseTransfers reads "8.0 GT/s PCIe" and "2.5 GT/s".
func parseTransfers(s string) (float64, error) {
	number, unit, _ := strings.Cut(s, " ")
	gt, err := strconv.ParseFloat(number, 64)
	if err != nil && strings.HasPrefix(s, "Unknown") {
		return 0, fmt.Errorf("the device says %q: %w", cut(s), fs.ErrNotExist)
	}
	if err != nil || !strings.HasPrefix(unit, "GT/s") || !(gt > 0 && gt < 1e4) {
		return 0, fmt.Errorf("%q is no speed", cut(s))
	}
	return gt, nil
}
