package check

import (
	"errors"
	"fmt"
	"strings"
)

func judgeDriver(f *Facts) verdict {
	d := f.Device.Driver
	if d.Err != nil {
		return missing(d.Err, info("%s", f.driver()))
	}
	words := []string{d.V.Name}
	if d.V.Version != "" {
		words = append(words, d.V.Version)
	}
	if d.V.Firmware != "" && d.V.Firmware != "N/A" {
		words = append(words, "firmware "+d.V.Firmware)
	}
	return info("%s", strings.Join(words, " "))
}

func judgeModule(f *Facts) verdict {
	switch m := f.Device.Module; {
	case m.Err != nil:
		return unknown(m.Err)
	case f.Device.Link.V.Driver == "" && f.software():
		return ok("the kernel's own")
	case f.Device.Link.V.Driver == "":
		return unknown(errors.New("the driver's name is not known"))
	case m.V:
		return info("%s is a module", f.driver()).by("build the kernel with the driver in it, if the last percent counts")
	}
	return ok("built in")
}

func judgeOffloads(f *Facts) verdict {
	on := func(names ...string) (yes, known bool) {
		for _, name := range names {
			if s, err := f.setting("feature." + name); err == nil {
				yes, known = yes || s.Value == "on", true
			}
		}
		return yes, known
	}
	sg, known := on("tx-scatter-gather")
	if !known {
		return unknown(fmt.Errorf("%s does not tell its features", f.driver()))
	}
	sums, _ := on("tx-checksum-ipv4", "tx-checksum-ip-generic")
	var off []string
	if !sg {
		off = append(off, "scatter-gather")
	}
	if !sums {
		off = append(off, "transmit checksums")
	}
	if len(off) > 0 {
		return info("off: %s", join(off)).by("ethtool -K %s sg on tx on, where the driver can", f.Device.Name)
	}
	if udp, _ := on("tx-udp-segmentation"); udp {
		return ok("scatter-gather, checksums; UDP segmentation is switched off for a run")
	}
	return ok("scatter-gather, checksums")
}
