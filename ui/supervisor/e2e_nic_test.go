package supervisor_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nicScript makes a pair of devices in namespaces of its own, with a /run of its own for the journals, and changes eight settings of one end while frames
// flow. What the usual tools list of all settings is told between lines that name the moment. END is how the session ends.
const nicScript = `
set -e
mount --make-rprivate /
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
ip link add v0 numtxqueues 4 numrxqueues 4 type veth peer name v1 numtxqueues 4 numrxqueues 4
ip link set v1 up
ip link set v0 up
all() {
	echo "== $1"
	ethtool -k v0; ethtool -a v0 2>&1 || true; ethtool -g v0 2>&1 || true; ethtool -c v0 2>&1 || true; ethtool -l v0
	ip -d link show dev v0; tc -d qdisc show dev v0
	for q in /sys/class/net/v0/queues/tx-*; do cat $q/xps_cpus $q/xps_rxqs 2>&1 || true; done
}
all before
rm -f out err
$WS run v0 --rx v1 --rate 2kpps --queues 2 --interval 50ms --mtu 1400 --txqueuelen 500 --qdisc 'pfifo limit 321' --set 'xps[2]=1' \
	--set feature.tx-udp-segmentation=off --set feature.tx-tcp-segmentation=off --set feature.tx-scatter-gather=off --channels 'rx 4 tx 3' $MORE >out 2>err &
pid=$!
for i in $(seq 200); do [ "$(wc -l <out)" -ge 3 ] && break; sleep 0.05; done
all during
echo "== second"
$WS run v0 --rx v1 --count 1 2>&1 && echo accepted || echo "exit $?"
END
echo "== stderr"
cat err
all after
`

// nicRun runs the script and returns its sections.
func nicRun(t *testing.T, more, end string) map[string]string {
	t.Helper()
	if os.Geteuid() != 0 || !ownsMachine(t) {
		t.Skip("needs the machine's root: XPS and /run are root's")
	}
	for _, tool := range []string{"ethtool", "ip", "tc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here to tell what the settings are", tool)
		}
	}
	cmd := exec.Command("/bin/sh", "-c", strings.Replace(nicScript, "\nEND\n", "\n"+end+"\n", 1))
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Environ(), "WS="+program(t), "MORE="+more)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Setsid: true}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	sections := map[string]string{}
	for part := range strings.SplitSeq(string(out), "== ") {
		name, text, _ := strings.Cut(part, "\n")
		sections[name] = text
	}
	return sections
}

// TestTheDeviceComesBack: after each way that a session can end, all that ethtool, ip and tc list is byte for byte as before.
func TestTheDeviceComesBack(t *testing.T) {
	const wait = "\nwait $pid || echo \"exit $?\"\n"
	for _, c := range []struct{ name, more, end, says string }{
		{"SIGTERM", "", "kill -TERM $pid" + wait, ""},
		{"SIGHUP", "", "kill -HUP $pid" + wait, ""},
		{"by itself", "--duration 1s", wait, ""},
		{"a panic", "", "export WIRESPEED_PLANT=panic\nkill -TERM $pid" + wait +
			"$WS run v0 --rx v1 --rate 1kpps --mtu 1300 >out 2>/dev/null || true\n", ""},
		{"kill -9 of the worker alone", "", "kill -9 $(cat /proc/$pid/task/*/children)" + wait, " changes put back\n"},
		{"kill -9 and restore", "", "kill -9 $pid" + wait + "sleep 0.3\nall killed\necho == restore\n" +
			"for i in $(seq 100); do $WS restore >r 2>&1; grep -q 'is held' r || break; sleep 0.1; done; cat r\n", "changes put back"},
		{"kill -9 and the next start", "", "kill -9 $pid" + wait + "sleep 0.3\nall killed\n" +
			"for i in $(seq 100); do $WS run v0 --rx v1 --count 1 >out 2>err && break; grep -q 'is held' err || break; sleep 0.1; done\n", "left changed are put back"},
		{"kept, and restored", "--keep --duration 1s", wait + "all killed\necho == restore\n$WS restore v0\n", "changes put back"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := nicRun(t, c.more, c.end)
			if s["during"] == s["before"] {
				t.Fatalf("nothing was changed: this test proves nothing; stderr: %s", s["stderr"])
			}
			for _, want := range []string{"mtu 1400", "qlen 500", "limit 321p"} {
				if !strings.Contains(s["during"], want) {
					t.Errorf("during the session there is no %q:\n%s", want, s["during"])
				}
			}
			if k, ok := s["killed"]; ok && k == s["before"] {
				t.Error("nothing was left behind: this test proves nothing")
			}
			if diff := cmp.Diff(s["before"], s["after"]); diff != "" {
				t.Errorf("settings (-before +after):\n%s\nstderr: %s\nrestore: %s", diff, s["stderr"], s["restore"])
			}
			if !strings.Contains(s["restore"]+s["stderr"], c.says) {
				t.Errorf("nobody said %q: %s %s", c.says, s["restore"], s["stderr"])
			}
			if want := "wirespeed: v0 is held by PID "; !strings.Contains(s["second"], want) || !strings.Contains(s["second"], "exit 1\n") {
				t.Errorf("the second session said %q, want %q and exit 1", s["second"], want)
			}
		})
	}
}

// TestDryRun lists and changes nothing.
func TestDryRun(t *testing.T) {
	s := nicRun(t, "", "kill -TERM $pid\nwait $pid || true\nall quiet\necho == plan\n$WS run v0 --rx v1 --mtu 1300 --txqueuelen 7 --dry-run\n")
	if diff := cmp.Diff("mtu 1500 -> 1300\ntxqueuelen 1000 -> 7\n", s["plan"]); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(s["quiet"], s["after"]); diff != "" {
		t.Errorf("it changed something (-before +after):\n%s", diff)
	}
}

// TestUnsupportedSettings say why, and the session goes on.
func TestUnsupportedSettings(t *testing.T) {
	u := user{home: t.TempDir()}
	for _, c := range []struct {
		setting, says string
		code          int
	}{
		{"--pause=off", "veth has no pause frames", 2},
		{"--rings.tx=512", "veth has no rings", 2},
		{"--set=bql.max[0]=30000", "veth does not use byte queue limits", 2},
		{"--set=priv.blueflame=off", "v0 has no priv.blueflame", 2},
		{"--mtu=60", "mtu 60: use 68 .. ", 2},
	} {
		o := u.run(t, "run", "--duration", "100ms", c.setting)
		if o.code != c.code || !strings.Contains(o.stderr, c.says) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q: want %d and one line with %q", c.setting, o.code, o.stderr, c.code, c.says)
		}
	}
	o := u.run(t, "run", "--duration", "300ms", "--mtu", "9000", "--size", "9014", "--rate", "1kpps", "--interval", "100ms")
	if o.code != 0 || !strings.Contains(o.stdout, "(9014byte,0frags)") {
		t.Errorf("jumbo frames in the lab: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}
