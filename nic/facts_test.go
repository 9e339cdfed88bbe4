package nic

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirespeed/nic/lab/labtest"
)

// ethtoolS is what the real ethtool counts, a line each without white space around.
func ethtoolS(t *testing.T, dev string) (lines []string) {
	t.Helper()
	for line := range strings.Lines(tool(t, "ethtool -S "+dev)) {
		if line = strings.TrimSpace(line); line != "NIC statistics:" {
			lines = append(lines, line)
		}
	}
	return lines
}

// testStats compares the driver's counters with ethtool's, which moves on between the two: names and order must match, most values too.
func testStats(t *testing.T, d *Device, dev string) {
	stats, err := d.Stats()
	must(t, err)
	lines := ethtoolS(t, dev)
	lines = slices.DeleteFunc(lines, func(s string) bool { return strings.Contains(s, " Queue#: ") })
	if len(lines) != len(stats) {
		t.Fatalf("%d counters, ethtool has %d", len(stats), len(lines))
	}
	equal := 0
	for i, s := range stats {
		_, name, inQueue := strings.Cut(s.Name, ": ")
		if !inQueue {
			name = s.Name
		}
		at := strings.LastIndex(lines[i], ":")
		if lines[i][:at] != name && lines[i][:at] != s.Name {
			t.Errorf("counter %d is %q, ethtool says %q", i, s.Name, lines[i])
		}
		if strings.TrimSpace(lines[i][at+1:]) == strconv.FormatUint(s.Value, 10) {
			equal++
		}
	}
	if equal < len(stats)*3/4 {
		t.Errorf("%d of %d values are what ethtool says", equal, len(stats))
	}
}

func TestStatsOfVeth(t *testing.T) {
	labtest.Pair(t, "c0", "c1", 2)
	d := open(t, "c0")
	testStats(t, d, "c0")
	before, err := d.Stats()
	must(t, err)
	sendFlows(t, "c0", 50)
	after, err := d.Stats()
	must(t, err)
	if len(before) != len(after) {
		t.Errorf("%v, then %v", before, after)
	}
	if _, err := d.PauseFrames(); !errors.Is(err, ErrNotSupported) {
		t.Errorf("pause frames of a veth: %v", err)
	}
	if list, err := d.Interrupts(); err != nil || len(list) > 0 {
		t.Errorf("interrupts of a veth: %v, %v", list, err)
	}
	n, err := d.CarrierChanges()
	must(t, err)
	run(t, "ip", "link", "set", "c1", "down")
	run(t, "ip", "link", "set", "c1", "up")
	if now, err := d.CarrierChanges(); err != nil || now != n+2 {
		t.Errorf("carrier changes: %d after %d, %v; want 2 more", now, n, err)
	}
}

// strings32 packs names as the kernel does.
func strings32(names ...string) (b []byte) {
	for _, n := range names {
		b = append(b, append([]byte(n), make([]byte, 32)...)[:32]...)
	}
	return b
}

func TestStringsOfDrivers(t *testing.T) {
	long := strings.Repeat("x", 32) // without a NUL
	got := parseStrings(strings32("tx_packets", "Tx Queue#", "  TSO pkts tx", "Tx Queue#", "  TSO pkts tx", long, "", "same", "same"),
		[]uint64{1, 0, 5, 1, 6, 7, 8, 9, 10})
	want := []Stat{{"tx_packets", 1}, {"Tx Queue 0: TSO pkts tx", 5}, {"Tx Queue 1: TSO pkts tx", 6}, {long, 7}, {"same", 9}, {"same", 10}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMoved(t *testing.T) {
	a := []Stat{{"a", 1}, {"b", 5}, {"c", 9}, {"d", 1}}
	b := []Stat{{"a", 1}, {"b", 7}, {"c", 3}, {"d", 2}}
	if diff := cmp.Diff([]StatRate{{"b", 4, 7}, {"d", 2, 2}}, Moved(a, b, time.Second/2)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, other := range map[string][]Stat{"fewer": a[:3], "others": {{"a", 1}, {"x", 7}, {"c", 9}, {"d", 2}}} {
		if got := Moved(a, other, time.Second); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestPauseCounters(t *testing.T) {
	p, ok := pauseCounters([]Stat{
		{"rx_flow_control_xon", 1}, {"rx_flow_control_xoff", 2}, {"tx_flow_control_xon", 30}, {"tx_flow_control_xoff", 40}, {"other", 9},
	})
	if !ok || *p.Tx != 70 || *p.Rx != 3 {
		t.Errorf("%+v, %v", p, ok)
	}
	if p, ok := pauseCounters([]Stat{{"tx_pause", 3}}); !ok || *p.Tx != 3 || p.Rx != nil {
		t.Errorf("one side: %+v, %v", p, ok)
	}
	if _, ok := pauseCounters([]Stat{{"rx_packets", 3}}); ok {
		t.Error("none is one")
	}
}

// interruptsText has lines of several machines and drivers.
const interruptsText = `           CPU0       CPU1       CPU3
  0:         44          0          0   IO-APIC   2-edge      timer
 16:       1000          0          7   IO-APIC  16-fasteoi   ehci_hcd:usb1, eth9
 27:          0         12          0  PCI-MSIX-0000:00:07.0   0-edge      eth0
 28:        100         12          0  PCI-MSIX-0000:00:07.0   1-edge      eth0-TxRx-0
 29:          0         13         99  PCI-MSIX-0000:00:07.0   2-edge      eth0-TxRx-1
 40:          5          0          0   PCI-MSI 131072-edge      mlx5_comp0@pci:0000:01:00.0
NMI:          1          2          3   Non-maskable interrupts
ERR:          0
`

func TestInterruptsText(t *testing.T) {
	all := parseInterrupts([]byte(interruptsText))
	var got []string
	for _, i := range all {
		got = append(got, fmt.Sprintf("%d %s %d", i.IRQ, i.Name, i.Total()))
	}
	want := []string{
		"0 timer 44", "16 ehci_hcd:usb1, eth9 1007", "27 eth0 12", "28 eth0-TxRx-0 112", "29 eth0-TxRx-1 112", "40 mlx5_comp0@pci:0000:01:00.0 5",
		"-1 NMI 6", "-1 ERR 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := all[4].PerCPU[3]; n != 99 { // the column is CPU 3's: CPU 2 is offline
		t.Errorf("CPU 3: %d", n)
	}
	for _, b := range []string{"", "nonsense\n 1: 2 3\n", "CPUx\n"} {
		if got := parseInterrupts([]byte(b)); len(got) > 0 {
			t.Errorf("%q: %v", b, got)
		}
	}
}

func TestOwnIRQs(t *testing.T) {
	irq := func(n int, name string) Interrupt { return Interrupt{IRQ: n, Name: name} }
	for _, c := range []struct {
		name    string
		all     []Interrupt
		numbers []int
		queues  int
		want    string
	}{
		{"e1000", []Interrupt{irq(22, "eth0"), irq(23, "eth1")}, []int{22}, 1, "22:0tr"},
		{"e1000e", []Interrupt{irq(26, "eth0"), irq(24, "eth0-rx-0"), irq(25, "eth0-tx-0")}, []int{24, 25, 26}, 1, "24:0r 25:0t 26:-1"},
		{"igb", []Interrupt{irq(27, "eth0"), irq(28, "eth0-TxRx-0"), irq(29, "eth0-TxRx-1")}, []int{27, 28, 29}, 2, "27:-1 28:0tr 29:1tr"},
		{"vmxnet3", []Interrupt{irq(5, "eth0-rxtx-0"), irq(6, "eth0-rxtx-1"), irq(7, "eth0-event-2")}, []int{5, 6, 7}, 2, "5:0tr 6:1tr 7:-1"},
		{"virtio", []Interrupt{irq(5, "virtio3-config"), irq(6, "virtio3-input.0"), irq(7, "virtio3-output.0"), irq(8, "virtio4-output.0")}, []int{5, 6, 7}, 1, "5:-1 6:0r 7:0t"},
		{"mlx5", []Interrupt{irq(5, "mlx5_async0@pci:0000:01:00.0"), irq(6, "mlx5_comp0@pci:0000:01:00.0"), irq(7, "mlx5_comp11@pci:0000:01:00.0")}, []int{5, 6, 7}, 12, "5:-1 6:0tr 7:11tr"},
		{"i40e", []Interrupt{irq(5, "i40e-0000:01:00.0:misc"), irq(6, "i40e-eth0-TxRx-3")}, []int{5, 6}, 4, "5:-1 6:3tr"},
		{"without numbers", []Interrupt{irq(5, "eth0-tx-0"), irq(6, "eth01-tx-0"), irq(7, "xeth0")}, nil, 1, "5:0t"},
		{"none", []Interrupt{irq(5, "ttyS0")}, nil, 1, ""},
	} {
		var got []string
		for _, q := range ownIRQs(c.all, c.numbers, "eth0", c.queues) {
			s := fmt.Sprintf("%d:%d", q.IRQ, q.Queue)
			if q.Tx {
				s += "t"
			}
			if q.Rx {
				s += "r"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

func TestIRQRates(t *testing.T) {
	irq := func(n int, counts ...uint64) QueueIRQ {
		q := QueueIRQ{Interrupt: Interrupt{IRQ: n, PerCPU: make(map[int]uint64)}}
		for cpu, c := range counts {
			q.PerCPU[cpu] = c
		}
		return q
	}
	got := IRQRates([]QueueIRQ{irq(1, 10, 10), irq(2, 5), irq(3, 9, 9)}, []QueueIRQ{irq(1, 20, 50), irq(2, 5), irq(3, 9, 8), irq(4, 1)}, 2*time.Second)
	if len(got) != 2 || got[0].PerSecond != 25 || !slices.Equal(got[0].On, []int{1, 0}) || got[1].PerSecond != 0 || got[1].On != nil {
		t.Errorf("%+v", got)
	}
}

func TestSoftIRQs(t *testing.T) {
	got := parseSoftIRQs([]byte("                    CPU0       CPU2\n          HI:          1          0\n      NET_TX:        327        500\n      broken:  1\n"))
	want := SoftIRQs{"HI": {0: 1, 2: 0}, "NET_TX": {0: 327, 2: 500}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	live, err := ReadSoftIRQs()
	must(t, err)
	if len(live["NET_RX"]) == 0 || len(live["TIMER"]) == 0 {
		t.Errorf("this machine: %v", live)
	}
}

func FuzzInterrupts(f *testing.F) {
	f.Add([]byte(interruptsText))
	if b, err := os.ReadFile("/proc/interrupts"); err == nil {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, i := range parseInterrupts(b) {
			i.Total()
			if i.IRQ < -1 {
				t.Errorf("%+v", i)
			}
		}
		ownIRQs(parseInterrupts(b), nil, "eth0", 2)
	})
}

func FuzzSoftIRQs(f *testing.F) {
	if b, err := os.ReadFile("/proc/softirqs"); err == nil {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { parseSoftIRQs(b) })
}

func FuzzStrings(f *testing.F) {
	f.Add(strings32("tx_packets", "Tx Queue#", "  TSO pkts tx"))
	f.Fuzz(func(t *testing.T, b []byte) { parseStrings(b, make([]uint64, len(b)/32+2)) })
}

func FuzzBits(f *testing.F) {
	f.Add(appendBit(nil, 2, "legacy-rx", true)[4:])
	f.Fuzz(func(t *testing.T, b []byte) {
		parseBits(b)
		errorText(0x200, b)
		errorText(0x300, b)
	})
}

func FuzzCPUList(f *testing.F) {
	f.Add("0-3,5")
	f.Add("none")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 30 {
			return
		}
		cpus, err := parseList(s)
		if err != nil {
			return
		}
		if again, err := parseList(formatList(cpus)); err != nil || !slices.Equal(again, cpus) {
			t.Errorf("%q: %v, printed %q, read %v, %v", s, cpus, formatList(cpus), again, err)
		}
	})
}
