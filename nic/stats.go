package nic

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"
)

// Stat is one of the driver's own counters, as `ethtool -S` lists them.
type Stat struct {
	// Name is the driver's, without the white space around. Those that a driver lists below a heading of a queue (vmxnet3) have it in front:
	// "Tx Queue 1: ucast pkts tx". A name may come twice.
	Name  string
	Value uint64
}

// statBuffers are what the kernel writes names and values to: a megabyte, so one for each device that is asked.
type statBuffers struct {
	mu     sync.Mutex
	names  *ethtool.EthtoolGStrings
	values *ethtool.EthtoolStats
}

// Stats reads them in the driver's order; errors.Is(err, ErrNotSupported) where the driver has none.
func (d *Device) Stats() ([]Stat, error) {
	m, err := d.linkMsg(d.index) // ethtool goes by the name, which may have changed
	if err != nil {
		return nil, fmt.Errorf("counters of %w", err)
	}
	b := &d.statBuffers
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.names == nil {
		b.names, b.values = new(ethtool.EthtoolGStrings), new(ethtool.EthtoolStats)
	}
	var unique map[string]uint64
	withStack(func() { unique, err = d.eth.StatsWithBuffer(m.name, b.names, b.values) })
	switch {
	case errors.Is(err, unix.EOPNOTSUPP) || err == nil && len(unique) == 0:
		return nil, &reason{text: d.kind() + " has no counters of its own", is: ErrNotSupported}
	case errors.Is(err, unix.ENODEV):
		return nil, fmt.Errorf("counters of %s: %w", m.name, ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("counters of %s: %w", m.name, err)
	}
	// The map has one of each name only. What it was made of is in the buffers, which the library keeps to itself.
	names, values := reflect.ValueOf(b.names).Elem(), reflect.ValueOf(b.values).Elem()
	n := int(values.FieldByName("n_stats").Uint())
	all, data := names.FieldByName("data"), values.FieldByName("data")
	list := make([]uint64, n)
	for i := range list {
		list[i] = data.Index(i).Uint()
	}
	return parseStrings(all.Slice(0, n*ethtool.ETH_GSTRING_LEN).Bytes(), list), nil
}

// withStack calls f with stack enough for all that it calls. The library hands the address of a struct on its stack to the kernel as a
// number, from two calls further down: if the stack grew between, the kernel would write to where it was.
//
//go:noinline
func withStack(f func()) {
	var room [16 << 10]byte
	f()
	runtime.KeepAlive(&room)
}

// parseStrings puts the names of a string set, 32 bytes each and NUL at the end if shorter, to their values.
func parseStrings(names []byte, values []uint64) []Stat {
	var list []Stat
	heading := ""
	for i, v := range values {
		if (i+1)*ethtool.ETH_GSTRING_LEN > len(names) {
			break
		}
		full := text(names[i*ethtool.ETH_GSTRING_LEN : (i+1)*ethtool.ETH_GSTRING_LEN])
		name := strings.TrimSpace(full)
		indented := strings.HasPrefix(full, " ")
		switch {
		case name == "":
			continue
		case !indented && strings.HasSuffix(name, " Queue#"): // its value is the queue
			heading = strings.TrimSuffix(name, "#") + " " + strconv.FormatUint(v, 10) + ": "
			continue
		case !indented:
			heading = ""
		}
		list = append(list, Stat{heading + name, v})
	}
	return list
}

// StatRate is a counter that moved.
type StatRate struct {
	Name      string
	PerSecond float64
	Value     uint64 // now
}

// Moved are the counters that went up between two readings, in the driver's order. One that went backwards was reset: it is not in it. Where
// the lists do not match (other channels) there is nothing to tell.
func Moved(before, after []Stat, interval time.Duration) (list []StatRate) {
	if len(before) != len(after) || interval <= 0 {
		return nil
	}
	for i, a := range after {
		if b := before[i]; b.Name != a.Name {
			return nil
		} else if a.Value > b.Value {
			list = append(list, StatRate{a.Name, float64(a.Value-b.Value) / interval.Seconds(), a.Value})
		}
	}
	return list
}

// PauseFrames are the pause frames since the driver started counting; nil is unknown.
type PauseFrames struct {
	Tx, Rx *uint64
	Source string // "netlink" (the driver's pause statistics), or the names of the driver's counters
}

// pauseNames are what drivers call them in ethtool -S; those of a row are added up.
var pauseNames = []struct{ tx, rx []string }{
	{[]string{"tx_flow_control_xon", "tx_flow_control_xoff"}, []string{"rx_flow_control_xon", "rx_flow_control_xoff"}}, // Intel
	{[]string{"tx_pause_ctrl_phy"}, []string{"rx_pause_ctrl_phy"}},                                                     // mlx5
	{[]string{"tx_pause_frames"}, []string{"rx_pause_frames"}},                                                         // bnxt
	{[]string{"port.link_xon_tx", "port.link_xoff_tx"}, []string{"port.link_xon_rx", "port.link_xoff_rx"}},             // i40e
	{[]string{"link_xon_tx.nic", "link_xoff_tx.nic"}, []string{"link_xon_rx.nic", "link_xoff_rx.nic"}},                 // ice
	{[]string{"tx_xon_sent", "tx_xoff_sent"}, []string{"rx_xon_pause_rcvd", "rx_xoff_pause_rcvd"}},                     // tg3
	{[]string{"tx_pause"}, []string{"rx_pause"}},                                                                       // mlx4 and others
}

// PauseFrames reads how many pause frames were sent and received, from the driver's pause statistics or else from its counters;
// errors.Is(err, ErrNotSupported) where it counts none.
func (d *Device) PauseFrames() (PauseFrames, error) {
	p := PauseFrames{Source: "netlink"}
	err := d.ethGet(unix.ETHTOOL_MSG_PAUSE_GET, unix.ETHTOOL_FLAG_STATS, "pause frames", func(typ uint16, b []byte) {
		if typ != unix.ETHTOOL_A_PAUSE_STATS {
			return
		}
		for typ, v := range attrs(b) {
			if len(v) != 8 {
				continue
			}
			n := native.Uint64(v)
			switch typ {
			case unix.ETHTOOL_A_PAUSE_STAT_TX_FRAMES:
				p.Tx = &n
			case unix.ETHTOOL_A_PAUSE_STAT_RX_FRAMES:
				p.Rx = &n
			}
		}
	})
	if p.Tx != nil || p.Rx != nil {
		return p, nil
	}
	if err != nil {
		return PauseFrames{}, err
	}
	stats, err := d.Stats()
	if err == nil {
		if p, ok := pauseCounters(stats); ok {
			return p, nil
		}
	}
	if err == nil || errors.Is(err, ErrNotSupported) {
		err = &reason{text: d.kind() + " does not count pause frames", is: ErrNotSupported}
	}
	return PauseFrames{}, err
}

// pauseCounters finds the pause frames among a driver's counters.
func pauseCounters(stats []Stat) (PauseFrames, bool) {
	sum := func(names []string) *uint64 {
		var n *uint64
		for _, s := range stats {
			for _, name := range names {
				if s.Name == name {
					if n == nil {
						n = new(uint64)
					}
					*n += s.Value
				}
			}
		}
		return n
	}
	for _, row := range pauseNames {
		if p := (PauseFrames{Tx: sum(row.tx), Rx: sum(row.rx)}); p.Tx != nil || p.Rx != nil {
			p.Source = strings.Join(append(append([]string(nil), row.tx...), row.rx...), " ")
			return p, true
		}
	}
	return PauseFrames{}, false
}

// CarrierChanges is how often the link came or went since the interface was made.
func (d *Device) CarrierChanges() (uint64, error) {
	s, err := d.readSys("carrier_changes")
	if err != nil {
		return 0, fmt.Errorf("carrier changes of %s: %w", d.Name(), err)
	}
	return strconv.ParseUint(s, 10, 64)
}
