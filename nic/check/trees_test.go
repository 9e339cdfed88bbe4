package check

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"wirespeed/nic"
	"wirespeed/nic/host"
)

// Trees of real files are archives in testdata, one for each machine, in the form of Go's txtar: what the checks read there, shortened where they look for single lines.
// To take one: go test -c ./nic/check, and on the machine, as root: ./check.test -test.run '^TestRecord$' -record FILE -device eth0
var (
	record = flag.String("record", "", "write what the checks read on this machine to this file")
	dev    = flag.String("device", "", "with -record: the interface")
	update = flag.Bool("update", false, "write the findings of the trees to testdata")
)

// loadTree reads an archive.
func loadTree(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	tree := make(fstest.MapFS)
	var file *fstest.MapFile
	for line := range bytes.Lines(b) {
		if name, found := bytes.CutPrefix(line, []byte("-- ")); found && bytes.HasSuffix(name, []byte(" --\n")) {
			file = new(fstest.MapFile)
			tree[string(name[:len(name)-4])] = file
			continue
		}
		file.Data = append(file.Data, line...)
	}
	if len(tree) < 50 {
		t.Fatalf("%s: %d files only", name, len(tree))
	}
	return tree
}

// findings prints a line for each finding, for comparison.
func lines(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%-7s %-12s %s\n", f.State, f.ID, f.Seen)
		if f.State >= Warn {
			fmt.Fprintf(&b, "%20s > %s\n", "", f.Mend)
		}
	}
	return b.String()
}

func TestTrees(t *testing.T) {
	for _, name := range []string{"virtio", "e1000e", "igb"} {
		t.Run(name, func(t *testing.T) {
			f := &Facts{Machine: readMachine(host.Root{FS: loadTree(t, name)}, []int{0, 1})}
			f.Load = know(Load{Busy: map[int]float64{0: 0, 1: 0}}, nil) // of one moment there is none
			got := lines(Judge(f))
			golden := "testdata/" + name + ".findings"
			if *update {
				must(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTreesOfDevices reads what the files tell of a device.
func TestTreesOfDevices(t *testing.T) {
	for _, c := range []struct {
		tree, bus, driver string
		irq, node         int
		module, pcie      bool
		allowed           []int
	}{
		{tree: "virtio", bus: "0000:00:03.0", driver: "virtio_net", irq: 39, node: -1, allowed: []int{0, 1}},
		{tree: "e1000e", bus: "0000:00:07.0", driver: "e1000e", irq: 35, node: -1, module: true, allowed: []int{0, 1}},
		{tree: "igb", bus: "0000:00:07.0", driver: "igb", irq: 37, node: -1, module: true, allowed: []int{0, 1}},
	} {
		t.Run(c.tree, func(t *testing.T) {
			root := host.Root{FS: loadTree(t, c.tree)}
			pcie, node := readBus(root, Known[Driver]{V: Driver{Bus: c.bus}})
			if !errors.Is(pcie.Err, fs.ErrNotExist) { // emulated buses tell nothing
				t.Errorf("PCIe: %+v", pcie)
			}
			if node.Err != nil || node.V != c.node {
				t.Errorf("node: %+v", node)
			}
			if module, err := root.Loaded(c.driver); err != nil || module != c.module {
				t.Errorf("module: %v, %v", module, err)
			}
			if sockets, err := readSockets(root, 2); err != nil || len(sockets) != 0 {
				t.Errorf("sockets: %+v, %v", sockets, err)
			}
			allowed, effective, err := root.Affinity(c.irq)
			if err != nil || !slices.Equal(allowed, c.allowed) || len(effective) != 1 {
				t.Errorf("affinity of %d: %v, %v, %v", c.irq, allowed, effective, err)
			}
		})
	}
}

// deniedFS is a tree of which nothing may be read.
type deniedFS struct{}

func (deniedFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// What cannot be read is unknown, never good.
func TestDenied(t *testing.T) {
	f := &Facts{Machine: readMachine(host.Root{FS: deniedFS{}}, []int{0, 1})}
	f.Load = know(loadBetween(sample(host.Root{FS: deniedFS{}}, true), sample(host.Root{FS: deniedFS{}}, false), []int{0, 1}))
	for _, finding := range Judge(f) {
		if finding.State != Unknown || !strings.Contains(finding.Seen, "permission denied") {
			t.Errorf("%s: %v, %q", finding.ID, finding.State, finding.Seen)
		}
	}
}

// Of a machine without any files hardly anything may be called good.
func TestEmpty(t *testing.T) {
	f := &Facts{Machine: readMachine(host.Root{FS: fstest.MapFS{}}, []int{0, 1})}
	f.Load = know(loadBetween(moment{}, moment{err: errors.New("no load")}, []int{0, 1}))
	var good []string
	for _, finding := range Judge(f) {
		if finding.State == OK {
			good = append(good, finding.ID)
		}
	}
	// These are choices that a kernel need not have.
	want := []string{"cgroup", "smt", "mitigations", "idle", "turbo", "cgroupsched"}
	if diff := cmp.Diff(want, good); diff != "" {
		t.Errorf("good (-want +got):\n%s", diff)
	}
}

// FuzzTree replaces one file of a real machine by anything.
func FuzzTree(f *testing.F) {
	tree := loadTree(f, "igb")
	names := slices.Sorted(maps.Keys(tree))
	for i, name := range names {
		f.Add(i, tree[name].Data)
	}
	f.Fuzz(func(t *testing.T, at int, content []byte) {
		changed := maps.Clone(tree)
		changed[names[uint(at)%uint(len(names))]] = &fstest.MapFile{Data: content}
		root := host.Root{FS: changed}
		facts := &Facts{Machine: readMachine(root, []int{0, 1})}
		a := sample(root, true)
		b := sample(root, false)
		facts.Load = know(loadBetween(a, b, []int{0, 1}))
		_, _ = readBus(root, Known[Driver]{V: Driver{Bus: "0000:00:07.0"}})
		_, _ = readSockets(root, 2)
		for _, finding := range Judge(facts) {
			if finding.Seen == "" || finding.State >= Warn && finding.Mend == "" {
				t.Errorf("%+v", finding)
			}
		}
	})
}

// TestRecord takes a tree.
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("takes a tree with -record FILE")
	}
	r := &recorder{FS: os.DirFS("/"), files: make(map[string][]byte)}
	root := host.Root{FS: r}
	cpus, err := host.CPUs()
	must(t, err)
	readMachine(root, cpus)
	sample(root, true)
	if *dev != "" {
		d, err := nic.Open(*dev)
		must(t, err)
		defer d.Close()
		readDevice(root, d)
	}
	var a []byte
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if data, keep := shorten(name, r.files[name]); keep {
			a = fmt.Appendf(a, "-- %s --\n%s", name, data)
			if !bytes.HasSuffix(a, []byte("\n")) {
				a = append(a, '\n')
			}
		}
	}
	must(t, os.WriteFile(*record, a, 0o644))
}

// shorten keeps of a file what the checks look for.
func shorten(name string, data []byte) ([]byte, bool) {
	parts := strings.Split(name, "/")
	if pid, err := strconv.Atoi(parts[min(1, len(parts)-1)]); err == nil && parts[0] == "proc" && pid > 3 {
		return nil, false
	}
	var words []string
	switch name {
	case "proc/kallsyms":
		words = append(symbols(), "_stext")
	case "proc/config.gz":
		c, _, err := host.Root{FS: fstest.MapFS{"proc/config.gz": {Data: data}, "proc/sys/kernel/osrelease": {Data: []byte("x")}}}.Config()
		if err != nil {
			return nil, false
		}
		var b bytes.Buffer
		for _, option := range slices.Sorted(maps.Keys(c)) {
			if strings.Contains(option, "DEBUG") || strings.Contains(option, "TRAC") || strings.Contains(option, "INIT_ON") || strings.Contains(option, "SAN") {
				fmt.Fprintf(&b, "CONFIG_%s=%s\n", option, c[option])
			}
		}
		return b.Bytes(), true
	case "proc/cpuinfo":
		words = []string{"flags"}
	default:
		return data, true
	}
	var kept []byte
	for line := range bytes.Lines(data) {
		fields := strings.Fields(strings.ReplaceAll(string(line), "\t", " ")) // ADDRESS KIND NAME, and NAME: ...
		if len(fields) > 2 && (slices.Contains(words, fields[2]) || slices.Contains(words, fields[0]) || strings.HasPrefix(string(line), "model name")) {
			kept = append(kept, line...)
		}
	}
	return kept, true
}

// recorder remembers the files that are read.
type recorder struct {
	fs.FS
	mu    sync.Mutex
	files map[string][]byte
}

func (r *recorder) ReadFile(name string) ([]byte, error) {
	b, err := fs.ReadFile(r.FS, name)
	if err == nil {
		r.mu.Lock()
		r.files[name] = b
		r.mu.Unlock()
	}
	return b, err
}

func (r *recorder) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(r.FS, name) }
func (r *recorder) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(r.FS, name) }
func (r *recorder) ReadLink(name string) (string, error)       { return fs.ReadLink(r.FS, name) }
func (r *recorder) Lstat(name string) (fs.FileInfo, error)     { return fs.Lstat(r.FS, name) }

func (r *recorder) Open(name string) (fs.File, error) {
	if path.Base(name) == "kallsyms" {
		_, _ = r.ReadFile(name)
	}
	return r.FS.Open(name)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestParseChain(t *testing.T) {
	attr := func(typ uint16, v ...byte) []byte {
		b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(v)))
		b = append(binary.NativeEndian.AppendUint16(b, typ), v...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		return b
	}
	text := func(typ uint16, s string) []byte { return attr(typ, append([]byte(s), 0)...) }
	const nested = 0x8000
	hook := slices.Concat(attr(1, 0, 0, 0, hookEgress), attr(2, 0, 0, 0, 0), attr(4|nested, slices.Concat(text(1, "eth0"), text(1, "eth1"))...))
	message := slices.Concat([]byte{5, 0, 0, 0}, text(1, "t"), attr(2, 0, 0, 0, 0, 0, 0, 0, 1), text(3, "out"), attr(4|nested, hook...))
	got, hooked := parseChain(message)
	if diff := cmp.Diff(Chain{"netdev", "t", "out", hookEgress, []string{"eth0", "eth1"}}, got); diff != "" || !hooked {
		t.Errorf("hooked %v (-want +got):\n%s", hooked, diff)
	}
	if c, hooked := parseChain(slices.Concat([]byte{1, 0, 0, 0}, text(1, "t"), text(3, "jumped to"))); hooked || c.Family != "inet" {
		t.Errorf("%+v, hooked %v", c, hooked)
	}
}

func FuzzChain(f *testing.F) {
	f.Add([]byte{5, 0, 0, 0, 8, 0, 4, 128, 4, 0, 1, 0})
	f.Fuzz(func(_ *testing.T, b []byte) { parseChain(b) })
}
