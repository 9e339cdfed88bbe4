package nic

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The root qdisc as a setting. What the kernel put there by itself has handle 0 and comes back when ours is removed; a simple one of
// somebody's is put back from its own options; one with classes, children or filters is not touched, as it could not be put back exactly.

// Our own root qdiscs have one of these handles, in turn: the kernel changes one of the same handle, and makes one anew for another.
const (
	ourHandle   = 0x7e5d0000
	otherHandle = 0x7e5e0000
)

// rootQdisc is what sits at the root.
type rootQdisc struct {
	kind    string
	handle  uint32 // 0: the kernel's own choice
	options []byte // TCA_OPTIONS
	tangled string // why it could not be put back, "" if it can
	rate    uint64 // of our htb's one class, bytes per second
	digest  uint32 // of all that the kernel chose: it depends on MTU and queues at the time
}

// replayable are the kinds whose options, as the kernel tells them, make the same qdisc again.
var replayable = []string{"pfifo", "bfifo", "pfifo_fast", "fq", "fq_codel", "codel", "tbf", "noqueue", "mq"}

func (v *view) rootQdisc() (rootQdisc, error) { return once(v, "qdisc", v.d.readRoot) }

func (d *Device) readRoot() (r rootQdisc, err error) {
	type node struct {
		handle, parent uint32
		kind           string
		options        []byte
	}
	var all []node
	err = d.nl.talk(request(unix.RTM_GETQDISC, unix.NLM_F_DUMP, tcmsg(d.index, 0)...), func(_ uint16, b []byte) error {
		if len(b) < sizeofTcMsg {
			return errShort
		}
		if int(native.Uint32(b[4:])) != d.index { // older kernels dump all interfaces
			return nil
		}
		n := node{handle: native.Uint32(b[8:]), parent: native.Uint32(b[12:])}
		for typ, v := range attrs(b[sizeofTcMsg:]) {
			switch typ {
			case unix.TCA_KIND:
				n.kind = text(v)
			case unix.TCA_OPTIONS:
				n.options = slices.Clone(v)
			}
		}
		all = append(all, n)
		return nil
	})
	if err != nil {
		return r, d.routeError("the qdisc", "", err)
	}
	at := slices.IndexFunc(all, func(n node) bool { return n.parent == netlink.HANDLE_ROOT })
	if at < 0 { // noop is not shown
		m, err := d.linkMsg(d.index)
		return rootQdisc{kind: m.qdisc}, err
	}
	root := all[at]
	r = rootQdisc{kind: root.kind, handle: root.handle, options: root.options}
	if r.handle == 0 {
		sum := crc32.NewIEEE()
		for _, n := range all {
			if n.handle == 0 {
				fmt.Fprintf(sum, "%x %s %x\n", n.parent, n.kind, n.options)
			}
		}
		r.digest = sum.Sum32()
	}
	ours := r.handle == ourHandle || r.handle == otherHandle
	for _, n := range all {
		// The children that mq gives itself have handle 0.
		if n.parent != netlink.HANDLE_ROOT && n.parent>>16 == r.handle>>16 && n.parent>>16 != 0xffff && n.handle != 0 {
			r.tangled = "it has a " + n.kind + " of its own below it"
		}
	}
	if r.handle != 0 && !ours && !slices.Contains(replayable, r.kind) {
		r.tangled = "it is one of somebody's own making, which could not be put back exactly"
	}
	if r.tangled == "" && r.kind != "noqueue" && d.hasFilters(r.handle) {
		r.tangled = "it has filters"
	}
	if r.kind == "htb" {
		r.rate = d.htbRate()
	}
	return r, nil
}

// hasFilters tells whether filters hang on the root qdisc.
func (d *Device) hasFilters(handle uint32) bool {
	found := false
	_ = d.nl.talk(request(unix.RTM_GETTFILTER, unix.NLM_F_DUMP, tcmsg(d.index, handle)...), func(typ uint16, b []byte) error {
		found = found || typ == unix.RTM_NEWTFILTER
		return nil
	}) // a qdisc that takes no filters answers with an error
	return found
}

// saved is the form that brings a root qdisc back.
func (r rootQdisc) saved() string {
	switch {
	case r.handle == 0:
		return fmt.Sprintf("default %s %x", r.kind, r.digest)
	case r.tangled != "":
		return "tangled " + r.kind
	case r.kind == "htb":
		return "htb rate " + formatTCRate(r.rate)
	}
	return fmt.Sprintf("%x: %s %s", r.handle>>16, r.kind, hex.EncodeToString(r.options))
}

func (v *view) qdiscSettings() []Setting {
	const name, help = "qdisc", "root qdisc: what queues frames on the qdisc path"
	d := v.d
	r, err := v.rootQdisc()
	if err != nil {
		return []Setting{unsupported(name, GroupQdisc, help, why(err))}
	}
	s := Setting{
		Name: name, Group: GroupQdisc, Help: help, Why: netAdmin(),
		Range:  "default, noqueue, mq, pfifo_fast, pfifo|bfifo [limit N], fq_codel|fq [limit N ...], tbf rate R [burst B] [limit B] [overhead B] [mpu B], htb rate R",
		Values: []string{"default", "noqueue", "pfifo limit 1000", "pfifo_fast", "fq_codel", "fq"},
		ops: ops{
			read: func(v *view) (string, error) {
				r, err := v.rootQdisc()
				return r.String(), err
			},
			check: func(text string) error { _, err := parseQdisc(text); return err },
			write: d.setQdisc,
			save: func(v *view) (string, error) {
				r, err := v.rootQdisc()
				return r.saved(), err
			},
			load:   d.loadQdisc,
			same:   sameQdisc,
			exact:  true,
			resets: true, // an interface without a qdisc of its own changes its queue length with one
		},
	}
	if l, err := once(v, "link", d.Link); err == nil && l.TxQueues > 1 {
		s.Values = slices.Insert(s.Values, 2, "mq")
	}
	if r.tangled != "" {
		s.Why = fmt.Sprintf("the root qdisc of %s is a %s, and %s: it is left alone", d.Name(), r.kind, r.tangled)
	}
	return []Setting{s}
}

// sameQdisc compares saved forms, in which our own handles stand for each other, and one that the kernel chose is one.
func sameQdisc(a, b string) bool {
	ours := func(s string) string {
		if words := strings.Fields(s); len(words) == 3 && words[0] == "default" {
			return "default " + words[1]
		}
		return strings.Replace(s, fmt.Sprintf("%x: ", otherHandle>>16), fmt.Sprintf("%x: ", ourHandle>>16), 1)
	}
	return ours(a) == ours(b)
}

// setQdisc puts a qdisc of ours at the root.
func (d *Device) setQdisc(text string) error {
	q, err := parseQdisc(text)
	if err != nil {
		return err
	}
	now, err := d.readRoot()
	if err != nil {
		return err
	}
	if now.tangled != "" {
		return &reason{text: fmt.Sprintf("the root qdisc of %s is a %s, and %s: it is left alone", d.Name(), now.kind, now.tangled), is: ErrNotSupported}
	}
	if q.kind == "default" {
		return d.loadQdisc("default")
	}
	q.handle = ourHandle
	if now.handle == ourHandle {
		q.handle = otherHandle
	}
	if err := d.putQdisc(q); err != nil {
		return err
	}
	if q.kind == "htb" {
		return d.addHTBClass(q.handle, q.rate)
	}
	return nil
}

// putQdisc makes a qdisc at the root.
func (d *Device) putQdisc(r rootQdisc) error {
	msg := tcmsg(d.index, netlink.HANDLE_ROOT)
	native.PutUint32(msg[8:], r.handle)
	req := appendAttr(request(unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_REPLACE|unix.NLM_F_ACK, msg...), unix.TCA_KIND, append([]byte(r.kind), 0))
	if len(r.options) > 0 {
		req = appendAttr(req, unix.TCA_OPTIONS, r.options)
	}
	said, err := d.nl.talkSaid(req, func(uint16, []byte) error { return nil })
	switch {
	case errors.Is(err, unix.ENOENT):
		return &reason{text: "this kernel has no " + r.kind + " qdisc", is: ErrNotSupported}
	case errors.Is(err, unix.EOPNOTSUPP) && r.kind == "mq":
		return &reason{text: d.Name() + " has one transmit queue: mq needs two", is: ErrNotSupported}
	}
	return d.routeError("the qdisc", said, err)
}

// loadQdisc brings a saved root qdisc back.
func (d *Device) loadQdisc(saved string) error {
	words := strings.Fields(saved)
	if len(words) == 0 {
		return badValue(saved, "a saved qdisc")
	}
	switch words[0] {
	case "tangled":
		return &reason{text: "a qdisc with classes, children or filters cannot be put back", is: ErrNotSupported}
	case "htb":
		return d.setQdisc(saved)
	case "default":
		now, err := d.readRoot()
		if err != nil {
			return err
		}
		if now.handle == 0 {
			// What the kernel chose at another MTU, or with fewer queues, differs in its numbers: have it choose again.
			if len(words) < 3 || words[2] == strconv.FormatUint(uint64(now.digest), 16) {
				return nil
			}
			if err := d.putQdisc(rootQdisc{kind: "pfifo_fast", handle: ourHandle}); err != nil {
				return err
			}
		}
		said, err := d.nl.talkSaid(request(unix.RTM_DELQDISC, unix.NLM_F_ACK, tcmsg(d.index, netlink.HANDLE_ROOT)...), func(uint16, []byte) error { return nil })
		return d.routeError("the qdisc", said, err)
	}
	r, err := parseSavedQdisc(words)
	if err != nil {
		return err
	}
	now, err := d.readRoot()
	if err != nil {
		return err
	}
	if now.handle == r.handle { // else the kernel would change the one that is there
		if err := d.loadQdisc("default"); err != nil {
			return err
		}
	}
	return d.putQdisc(r)
}

func parseSavedQdisc(words []string) (r rootQdisc, err error) {
	if len(words) < 2 || len(words) > 3 {
		return r, badValue(strings.Join(words, " "), "a saved qdisc")
	}
	if _, err := fmt.Sscanf(words[0], "%x:", &r.handle); err != nil || r.handle == 0 || r.handle > 0xffff {
		return r, badValue(words[0], "a handle")
	}
	r.handle <<= 16
	if r.kind = words[1]; !slices.Contains(replayable, r.kind) {
		return r, badValue(r.kind, strings.Join(replayable, ", "))
	}
	if len(words) == 3 {
		if r.options, err = hex.DecodeString(words[2]); err != nil {
			return r, badValue(words[2], "options in hexadecimal")
		}
	}
	return r, nil
}
