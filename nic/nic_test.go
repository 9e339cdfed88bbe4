package nic

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"wirespeed/nic/lab"
	"wirespeed/nic/lab/labtest"
)

// realDevice names an interface with a driver of its own for TestRealDevice, which then runs where that is: in the guest of
// .ci/vmlab-nic.
const realDevice = "NIC_TEST_DEVICE"

func TestMain(m *testing.M) {
	if os.Getenv(realDevice) != "" {
		os.Exit(m.Run())
	}
	os.Exit(labtest.Main(m))
}

// open opens a device for the length of the test.
func open(t testing.TB, name string) *Device {
	t.Helper()
	d, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// handle is the independent means: another library's view of the device, and its way of changing it.
func handle(t testing.TB, name string) netlink.Link {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// add makes a device and deletes it when the test ends; where the kernel has no such kind the test is skipped with a word.
func add(t testing.TB, l netlink.Link) {
	t.Helper()
	err := netlink.LinkAdd(l)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV) {
		t.Skipf("this kernel has no %s devices: %v", l.Type(), err)
	}
	if err != nil {
		t.Fatalf("add %s %s: %v", l.Type(), l.Attrs().Name, err)
	}
	t.Cleanup(func() { netlink.LinkDel(l) })
}

// packetSocket returns a function that sends a frame through the qdisc. ENOBUFS, the kernel's word for a drop there, is no failure.
func packetSocket(t testing.TB, name string) func(frame []byte) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	must(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	to := &unix.SockaddrLinklayer{Ifindex: handle(t, name).Attrs().Index}
	return func(frame []byte) {
		t.Helper()
		if err := unix.Sendto(fd, frame, 0, to); err != nil && err != unix.ENOBUFS {
			t.Fatal(err)
		}
	}
}

// sender returns a function that sends one frame of the given size to the foreign MAC.
func sender(t testing.TB, name string) func(size int) {
	t.Helper()
	send := packetSocket(t, name)
	return func(size int) {
		t.Helper()
		frame := make([]byte, size)
		copy(frame, lab.Foreign[:])
		frame[6], frame[12], frame[13] = 2, 0x88, 0xb5 // local experimental
		send(frame)
	}
}

// sendFlows sends n UDP frames of 60 bytes, each of its own flow, so that the kernel spreads them over the queues.
func sendFlows(t testing.TB, name string, n int) {
	t.Helper()
	send := packetSocket(t, name)
	for i := range n {
		frame := make([]byte, 60)
		copy(frame, lab.Foreign[:])
		frame[6], frame[12] = 2, 8                                                            // source, IPv4
		copy(frame[14:], []byte{0x45, 0, 0, 46, 0, 0, 0, 0, 32, unix.IPPROTO_UDP, 0, 0})      // header
		copy(frame[26:], []byte{198, 18, 0, 1, 198, 18, 0, 2, 0, byte(i), 0, 9, 0, 26, 0, 0}) // addresses, ports, length
		send(frame)
	}
}

// run runs a program and returns what it printed; "" where the machine has none of that name.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Logf("no %s here to compare with", name)
		return ""
	}
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}

func TestOpenErrors(t *testing.T) {
	for _, c := range []struct{ name, dev, text string }{
		{"unknown", "nosuchdev", "nosuchdev: no such device"},
		{"empty", "", ": no such device"},
		{"too long for a name", "averyveryverylongname", "averyveryverylongname: no such device"},
		{"too long for an alternative name", strings.Repeat("x", 300), strings.Repeat("x", 300) + ": no such device"},
		{"path", "../v0", "../v0: no such device"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Open(c.dev)
			if d != nil || !errors.Is(err, ErrNotFound) || err.Error() != c.text {
				t.Errorf("Open(%q) = %v, %v; want %q", c.dev, d, err, c.text)
			}
		})
	}
}

func TestOpenAlternativeName(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	const alt = "the-first-end-of-the-pair"
	must(t, netlink.LinkAddAltName(handle(t, "v0"), alt))
	if got := open(t, alt).Name(); got != "v0" {
		t.Errorf("Open(%q) is %s, want v0", alt, got)
	}
}

func TestClosed(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	d, err := Open("v0")
	must(t, err)
	must(t, d.Close())
	must(t, d.Close()) // again
	_, link := d.Link()
	_, counters := d.Counters()
	_, pause := d.Pause()
	_, inFlight := d.InFlight(0)
	watch := d.Watch(t.Context(), func(Change) { t.Error("called") })
	for call, err := range map[string]error{"Link": link, "Counters": counters, "Pause": pause, "InFlight": inFlight, "Watch": watch} {
		if err == nil || errors.Is(err, ErrNotFound) || strings.Contains(err.Error(), "not use") {
			t.Errorf("%s after Close: %v", call, err)
		}
	}
}

// TestWithoutSys: in some containers /sys/class/net is hidden. Then what netlink knows is still there.
func TestWithoutSys(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 3)
	d := open(t, "v0")
	must(t, d.sys.dir.Close())
	d.sys, d.sysErr = openSys(linkMsg{name: "nosuchdev"})
	if l, err := d.Link(); err != nil || l.TxQueues != 3 || !l.Carrier {
		t.Errorf("%+v, %v", l, err)
	}
	must(t, d.AttachMQ())
	if bytes, err := d.QueueBytes(); err != nil || len(bytes) != 3 {
		t.Errorf("bytes per queue %v, %v", bytes, err)
	}
	_, inFlight := d.InFlight(0)
	_, xps := d.XPS(0)
	_, setXPS := d.SetXPS(0, []int{0})
	for call, err := range map[string]error{"InFlight": inFlight, "XPS": xps, "SetXPS": setXPS} {
		if !errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), "/sys does not show nosuchdev") {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// TestOpenForeignSys: /sys shows the network namespace it was mounted in. A device of another namespace must not be read there.
func TestOpenForeignSys(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 2)
	d := open(t, "v0")
	m, err := d.linkMsg(d.index)
	must(t, err)
	for _, c := range []struct {
		name   string
		change func(*linkMsg)
		want   string
	}{
		{"same", func(*linkMsg) {}, ""},
		{"other index", func(m *linkMsg) { m.index++ }, "another network namespace's v0"},
		{"other address", func(m *linkMsg) { m.mac = []byte{2, 0, 0, 0, 0, 9} }, "another network namespace's v0"},
		{"not there", func(m *linkMsg) { m.name = "nosuchdev" }, "/sys does not show nosuchdev"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := m
			c.change(&m)
			sys, err := openSys(m)
			if sys != nil {
				defer sys.dir.Close()
			}
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func deleteLink(name string) error {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkDel(l)
}
