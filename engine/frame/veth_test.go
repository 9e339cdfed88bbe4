package frame

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"wirespeed/nic/lab/labtest"
)

// onVeth is set in the one process that runs the tests with a network: the others need none, and must not be skipped without one.
const onVeth = "WIRESPEED_FRAME_VETH"

func TestMain(m *testing.M) {
	if os.Getenv(onVeth) != "" {
		os.Exit(labtest.Main(m))
	}
	os.Exit(m.Run())
}

// What a receiving packet socket's filter sees of a VLAN tag only a real device shows.
func TestFilterOnVeth(t *testing.T) {
	if os.Getenv(onVeth) == "" {
		again(t)
		return
	}
	labtest.Pair(t, "v0", "v1", 1)
	plain, tag5, tag6 := v4(60), tagged(v4(64), 5), tagged(v6(100), 6)
	priority := built(t, tag5)
	priority[14] |= 0xe0 // PCP 7
	other := with(plain, func(s *Spec) { s.SrcMAC[5]++ })

	for _, c := range []struct {
		name  string
		specs []Spec
		pass  [][]byte
		drop  [][]byte
	}{
		{"untagged", []Spec{plain}, [][]byte{built(t, plain)}, [][]byte{built(t, tag5), built(t, tag6), built(t, other)}},
		{"tagged", []Spec{tag5}, [][]byte{built(t, tag5), priority}, [][]byte{built(t, plain), built(t, tagged(tag5, 6)), built(t, tag6)}},
		{"tagged IPv6", []Spec{tag6}, [][]byte{built(t, tag6)}, [][]byte{built(t, plain), built(t, v6(100)), built(t, tagged(tag6, 5))}},
		{"union", []Spec{plain, tag5, tag6}, [][]byte{built(t, plain), built(t, tag5), built(t, tag6)}, [][]byte{built(t, tagged(plain, 6)), built(t, other)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			prog, err := Filter(c.specs)
			if err != nil {
				t.Fatal(err)
			}
			tx, rx := packetSocket(t, "v0", 0), packetSocket(t, "v1", unix.ETH_P_ALL)
			attach(t, rx, prog)
			send := func(frame []byte) {
				if _, err := unix.Write(tx, frame); err != nil {
					t.Fatal(err)
				}
			}
			// What must be dropped goes first: then the first frame that comes must be one that passes.
			for _, frame := range c.pass {
				for _, drop := range c.drop {
					drop[len(drop)-1] = 0xdd // without its tag it may look like the other
					send(drop)
				}
				send(frame)
				got := make([]byte, 2048)
				n, err := unix.Read(rx, got)
				if err != nil {
					t.Fatalf("%x did not pass: %v", frame[:24], err)
				}
				want := frame
				if frame[12] == 0x81 { // the tag is in the metadata now
					want = slices.Concat(frame[:12], frame[16:])
				}
				if !slices.Equal(got[:n], want) {
					t.Fatalf("came: %x\nwant: %x", got[:n], want)
				}
			}
		})
	}
}

// again runs the calling test in namespaces of its own.
func again(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), onVeth+"=1")
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case strings.Contains(string(out), "no tests to run"):
		t.Skipf("%s", out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()+"/union"):
		t.Fatalf("the tests did not run:\n%s", out)
	}
}

// packetSocket opens a raw packet socket on a device, protocol 0 for sending only.
func packetSocket(t *testing.T, dev string, protocol uint16) int {
	t.Helper()
	ifi, err := net.InterfaceByName(dev)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	err = errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5}),
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: protocol<<8 | protocol>>8, Ifindex: ifi.Index}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}
