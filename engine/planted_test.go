package engine

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"wirespeed/engine/receive"
)

// Every 1000th frame is dropped by a tc filter at the sender's egress: silently, for it says it took the frame.
func TestEvery1000thFrameThatTheKernelDropsIsMissed(t *testing.T) {
	tx, rx := pair(t, 1)
	// load sequence number; modulo 1000; zero: TC_ACT_STOLEN, else TC_ACT_UNSPEC
	const program = "5,32 0 0 46,148 0 0 1000,21 0 1 0,6 0 0 4,6 0 0 4294967295"
	for _, args := range [][]string{
		{"qdisc", "add", "dev", "v0", "clsact"}, {"filter", "add", "dev", "v0", "egress", "protocol", "all", "bpf", "da", "bytecode", program},
	} {
		if out, err := exec.Command("tc", args...).CombinedOutput(); err != nil {
			t.Fatalf("tc %v: %v: %s", args, err, out)
		}
	}
	cfg := verifying(t, tx, "max")
	cfg.Path = QdiscPath // the bypass has no egress
	e := started(t, tx, rx, cfg, Limit{Count: 20_500})
	s := finish(t, e, 20*time.Second)
	if s.Taken.Count != 20_500 || s.Arrived.Count != 20_480 || counter(t, "v0", "tx_packets") != 20_480 {
		t.Errorf("taken %d, device %d, arrived %d", s.Taken.Count, counter(t, "v0", "tx_packets"), s.Arrived.Count)
	}
	if r := received(t, e); r.Lost() != 20 || r.Counts.Received != 20_480 || r.Duplicates != 0 || r.Reordered != 0 || r.NotSeen != 0 {
		t.Errorf("lost %d, %+v", r.Lost(), r.Counts)
	}
}

// What a run sent is captured, and a second sender puts it on the link again: with holes, twice, out of order, one byte wrong.
func TestAReplayWithPlantedFaultsIsReadToTheFrame(t *testing.T) {
	tx, rx := pair(t, 1)
	c := openCapture(t, rx)
	const sent = 4000
	cfg := verifying(t, tx, "20kpps")
	finish(t, started(t, tx, rx, cfg, Limit{Count: sent}), 20*time.Second)
	frames := c.read(sent)
	if len(frames) != sent || c.dropped() != 0 {
		t.Fatalf("captured %d, dropped %d", len(frames), c.dropped())
	}
	filter, err := receive.From(tx.MAC)
	if err != nil {
		t.Fatal(err)
	}
	r, err := receive.Open(receive.Options{Device: rx.Index, Filter: filter, FromOne: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	send := func(b []byte) {
		if err := unix.Sendto(fd, b, 0, &unix.SockaddrLinklayer{Ifindex: tx.Index}); err != nil {
			t.Fatal(err)
		}
	}
	var holes, twice, late, corrupt uint64
	for i, f := range frames {
		switch n := i + 1; {
		case n%1000 == 500:
			holes++
			continue
		case n%400 == 7: // it comes after the five that follow it
			continue
		case n%777 == 0:
			corrupt++
			f.data[45] ^= 0x20
		}
		send(f.data)
		if i%400 == 11 {
			late++
			send(frames[i-5].data)
		}
		if i%250 == 100 {
			twice++
			send(f.data)
		}
	}
	r.Settle(10 * time.Second)
	s, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if s.Counts.Received != sent-holes-corrupt || s.Lost() != holes || s.Duplicates != twice || s.Reordered != late || s.ExtentMax != 5 || s.Corrupt != corrupt ||
		s.NotSeen != 0 || s.Foreign != 0 {
		t.Errorf("planted: %d holes, %d twice, %d late by 5, %d corrupt; told: lost %d, foreign %d, %+v", holes, twice, late, corrupt, s.Lost(), s.Foreign, s.Counts)
	}
}
