package tpacket

import (
	"bytes"
	"net"
	"os"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/mdlayher/packet"
	"golang.org/x/sys/unix"

	"wirespeed/nic/lab/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func TestLayoutIsTheKernels(t *testing.T) {
	var h unix.Tpacket3Hdr
	if unsafe.Offsetof(h.Len) != offLen || unsafe.Offsetof(h.Status) != offStatus || unsafe.Sizeof(h) != offVnet {
		t.Errorf("tp_len at %d, tp_status at %d, header of %d bytes", unsafe.Offsetof(h.Len), unsafe.Offsetof(h.Status), unsafe.Sizeof(h))
	}
}

// open makes a ring on v0 and a socket that hears what comes out of v1.
func open(t *testing.T, slots, maxFrame int) (*Ring, *packet.Conn) {
	t.Helper()
	labtest.Pair(t, "v0", "v1", 1)
	listen := func(name string, protocol int) *packet.Conn {
		ifi, err := net.InterfaceByName(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := packet.Listen(ifi, packet.Raw, protocol, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	peer := listen("v1", unix.ETH_P_ALL)
	raw, err := listen("v0", 0).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var fd uintptr
	if err := raw.Control(func(n uintptr) { fd = n }); err != nil {
		t.Fatal(err)
	}
	r, err := Open(fd, slots, maxFrame)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, peer
}

// testFrame is n bytes for a foreign address, with an experimental Ethernet type (IEEE 802), so that no stack takes it.
func testFrame(n int, fill byte) []byte {
	b := bytes.Repeat([]byte{fill}, n)
	copy(b, []byte{2, 0, 0, 0, 0, 0xfe, 2, 0, 0, 0, 0, 1, 0x88, 0xb5})
	return b
}

func TestSlotsLeaveInOrderAndComeBack(t *testing.T) {
	r, peer := open(t, 64, 1518)
	if r.Slots() != 64 || r.MaxFrame() < 1518 {
		t.Fatalf("%d slots for frames of %d bytes", r.Slots(), r.MaxFrame())
	}
	buf := make([]byte, 2000)
	for i := range 3 * r.Slots() { // three times around
		slot, size := i%r.Slots(), 60+i%1459
		if !r.Free(slot) {
			t.Fatalf("slot %d is not free", slot)
		}
		copy(r.Frame(slot, size), testFrame(size, byte(i)))
		if i%2 == 0 {
			r.SetLinear(slot, size)
		} else {
			r.SetPlain(slot, size)
		}
		r.Post(slot)
		if r.Free(slot) || !r.Requested(slot) {
			t.Fatalf("slot %d is free before the kick", slot)
		}
		if errno := r.Kick(); errno != 0 {
			t.Fatalf("kick: %v", errno)
		}
		if err := peer.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		n, _, err := peer.ReadFrom(buf)
		if err != nil || !bytes.Equal(buf[:n], testFrame(size, byte(i))) {
			t.Fatalf("frame %d arrived as %x, %v", i, buf[:n], err)
		}
		for end := time.Now().Add(time.Second); !r.Free(slot); {
			if time.Now().After(end) {
				t.Fatalf("slot %d does not come back", slot)
			}
		}
		if r.Refused(slot) {
			t.Fatalf("slot %d was refused", slot)
		}
	}
}

func TestARefusedSlotIsTold(t *testing.T) {
	r, _ := open(t, 64, 1518)
	r.SetLinear(0, 5) // shorter than an Ethernet header
	r.Post(0)
	if errno := r.Kick(); errno != unix.EINVAL {
		t.Errorf("kick: %v, want EINVAL", errno)
	}
	if !r.Refused(0) {
		t.Error("the slot is not told as refused")
	}
}

func TestAWrongIndexNeverLeavesTheMapping(t *testing.T) {
	r, _ := open(t, 64, 1518)
	for name, f := range map[string]func(){
		"slot after the last": func() { r.Post(64) },
		"negative slot":       func() { r.Free(-1) },
		"frame too long":      func() { r.Frame(0, r.MaxFrame()+1) },
		"negative length":     func() { r.Frame(0, -1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestGeometry(t *testing.T) {
	for _, size := range []int{60, 100, 1518, 9018, 65553} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			r, _ := open(t, 64, size)
			if r.slotSize%slotAlign != 0 || r.slotSize/slotAlign%2 == 0 || r.MaxFrame() < size || r.slotSize*blockMul%uintptr(os.Getpagesize()) != 0 {
				t.Errorf("slots of %d bytes", r.slotSize)
			}
		})
	}
}

func TestReceiveLayoutIsTheKernels(t *testing.T) {
	var h unix.Tpacket3Hdr
	var ours header
	var b unix.TpacketBlockDesc
	if unsafe.Sizeof(h) != unsafe.Sizeof(ours) || unsafe.Sizeof(ours) != frameHead || unsafe.Offsetof(h.Mac) != unsafe.Offsetof(ours.mac) ||
		unsafe.Offsetof(h.Status) != unsafe.Offsetof(ours.status) || unsafe.Offsetof(h.Hv1) != unsafe.Offsetof(ours.rxhash) {
		t.Errorf("our header has %d bytes", unsafe.Sizeof(ours))
	}
	if at := unsafe.Offsetof(b.Hdr); at != offBlockStatus {
		t.Errorf("block_status at %d", at)
	}
}
