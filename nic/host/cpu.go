package host

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const cpuDir = "sys/devices/system/cpu/"

func cpuFile(cpu int, name string) string { return cpuDir + "cpu" + strconv.Itoa(cpu) + "/" + name }

// Online lists the CPUs that run.
func (r Root) Online() ([]int, error) { return r.List(cpuDir + "online") }

// Siblings lists the hardware threads of a CPU's core, itself included.
func (r Root) Siblings(cpu int) ([]int, error) {
	return r.List(cpuFile(cpu, "topology/thread_siblings_list"))
}

// Nodes maps each CPU to its NUMA node; empty where the kernel knows no nodes.
func (r Root) Nodes() (map[int]int, error) {
	names, err := r.Names("sys/devices/system/node")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	nodes := make(map[int]int)
	for _, name := range names {
		node, err := strconv.Atoi(strings.TrimPrefix(name, "node"))
		if err != nil || !strings.HasPrefix(name, "node") {
			continue
		}
		cpus, err := r.List("sys/devices/system/node/" + name + "/cpulist")
		if err != nil {
			return nil, err
		}
		for _, cpu := range cpus {
			nodes[cpu] = node
		}
	}
	return nodes, err
}

// Governors returns the frequency governor of each of the CPUs, "" where nothing in this machine's hands governs a CPU's frequency.
func (r Root) Governors(cpus []int) (map[int]string, error) {
	governors := make(map[int]string)
	for _, cpu := range cpus {
		s, err := r.Word(cpuFile(cpu, "cpufreq/scaling_governor"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		governors[cpu] = s
	}
	return governors, nil
}

// Turbo tells whether CPUs may run faster than their nominal frequency, and the file that switches it, with the text that switches it off.
// errors.Is(err, fs.ErrNotExist) where this machine has no such switch.
func (r Root) Turbo() (on bool, file, off string, err error) {
	const intel, others = cpuDir + "intel_pstate/no_turbo", cpuDir + "cpufreq/boost"
	n, err := r.Int(intel)
	if err == nil {
		return n == 0, "/" + intel, "1", nil
	}
	if n, err = r.Int(others); err == nil {
		return n != 0, "/" + others, "0", nil
	}
	return false, "", "", err
}

// IdleState is a state that an idle CPU may fall into.
type IdleState struct {
	Name    string
	Latency time.Duration // to wake up from it
}

// DeepestIdle returns the enabled idle state of a CPU that takes longest to wake up from; errors.Is(err, fs.ErrNotExist) where the kernel
// has no choice of states.
func (r Root) DeepestIdle(cpu int) (deepest IdleState, err error) {
	dir := cpuFile(cpu, "cpuidle")
	states, err := r.Names(dir)
	if err != nil {
		return deepest, err
	}
	for _, state := range states {
		disabled, err := r.Int(dir + "/" + state + "/disable")
		if err != nil {
			return deepest, err
		}
		us, err := r.Int(dir + "/" + state + "/latency")
		if err != nil {
			return deepest, err
		}
		name, err := r.Text(dir + "/" + state + "/name")
		if err != nil {
			return deepest, err
		}
		if d := time.Duration(us) * time.Microsecond; disabled == 0 && d >= deepest.Latency {
			deepest = IdleState{name, d}
		}
	}
	return deepest, nil
}

// Mitigations lists what the kernel does against faults of the CPUs, by name, as far as it costs time on the way of a frame: what is not
// affected, vulnerable or mitigated once at the start of a program is left out.
func (r Root) Mitigations() ([]string, error) {
	dir := cpuDir + "vulnerabilities"
	names, err := r.Names(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		s, err := r.Word(dir + "/" + name)
		if err != nil {
			return nil, err
		}
		if what := costly(name, s); what != "" {
			found = append(found, what)
		}
	}
	return slices.Compact(found), nil
}

// costly is the part of a mitigation that makes system calls, interrupts or indirect calls slower, "" if there is none.
func costly(name, s string) string {
	what, found := strings.CutPrefix(s, "Mitigation: ")
	if !found {
		if s, ok := strings.CutPrefix(s, "Mitigation; "); ok { // srbds and friends wrote it so for a while
			what, found = s, true
		}
	}
	if !found {
		return ""
	}
	switch name {
	case "spectre_v1", "spec_store_bypass", "itlb_multihit", "l1tf", "srbds", "tsx_async_abort", "gather_data_sampling":
		return "" // barriers of a few cycles, or the cost is not on our way
	case "spectre_v2":
		what, _, _ = strings.Cut(what, ";") // Retpolines, Enhanced / Automatic IBRS
		if strings.Contains(what, "Retpoline") || what == "IBRS" {
			return "spectre_v2 " + strings.ToLower(what[:1]) + what[1:]
		}
		return ""
	}
	what, _, _ = strings.Cut(what, ";")
	return name + " " + what
}

var guestTools = []struct{ part, name string }{
	{"qemu", "QEMU"},
	{"kvm", "KVM"},
	{"vmware", "VMware"},
	{"virtualbox", "VirtualBox"},
	{"innotek", "VirtualBox"},
	{"xen", "Xen"},
	{"microsoft corporation", "Hyper-V"},
	{"amazon ec2", "Amazon EC2"},
	{"google", "Google Compute Engine"},
	{"parallels", "Parallels"},
	{"bochs", "Bochs"},
	{"firecracker", "Firecracker"},
}

var hypervisorFlag = regexp.MustCompile(`(?m)^(flags|Features)\s*:.*\bhypervisor\b`)

// Hypervisor names what this machine is a guest of: "a hypervisor" where it does not say, "" on bare metal.
func (r Root) Hypervisor() (string, error) {
	info, err := r.Word("proc/cpuinfo")
	if err != nil {
		return "", err
	}
	vendor, _ := r.Text("sys/class/dmi/id/sys_vendor") // a guest need not have it
	product, _ := r.Text("sys/class/dmi/id/product_name")
	kind, _ := r.Text("sys/hypervisor/type")
	said := strings.ToLower(strings.Join([]string{vendor, product, kind}, " "))
	if hypervisorFlag.MatchString(info) || kind != "" {
		for _, t := range guestTools {
			if strings.Contains(said, t.part) {
				return t.name, nil
			}
		}
		return "a hypervisor", nil
	}
	for _, t := range guestTools[:2] { // an emulated CPU need not have the flag
		if strings.Contains(said, t.part) {
			return t.name, nil
		}
	}
	return "", nil
}
