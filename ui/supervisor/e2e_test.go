package supervisor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// These tests run the program itself, as a person would.

var built struct {
	once sync.Once
	dir  string
	err  error
}

// program builds wirespeed, once for all tests, where any user can run it.
func program(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "wirespeed-e2e-"); built.err != nil {
			return
		}
		out, err := exec.Command("go", "build", "-o", built.dir, "wirespeed").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
			return
		}
		built.err = os.Chmod(built.dir, 0o755)
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "wirespeed")
}

// user runs the program as somebody.
type user struct {
	name string
	uid  uint32 // 0: as ourselves
	home string
}

// asEachUser runs a test as ourselves and, where we can, as nobody. Started as another user than root, the first is such a user.
func asEachUser(t *testing.T, f func(t *testing.T, u user)) {
	t.Helper()
	users := []user{{name: "ourselves"}}
	if os.Geteuid() == 0 {
		users = append(users, user{name: "nobody", uid: 65534})
	}
	for _, u := range users {
		t.Run(u.name, func(t *testing.T) {
			home, err := os.MkdirTemp("", "wirespeed-home-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(home) })
			if err := os.Chmod(home, 0o777); err != nil {
				t.Fatal(err)
			}
			u.home = home
			f(t, u)
		})
	}
}

// command prepares the program in a session of its own, as a service would be.
func (u user) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	cmd.Dir = u.home
	cmd.Env = append(os.Environ(), "HOME="+u.home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_RUNTIME_DIR=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if u.uid != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: u.uid, Gid: u.uid}
	}
	return cmd
}

// outcome is how a command ended.
type outcome struct {
	code           int
	stdout, stderr string
}

func (u user) run(t *testing.T, args ...string) outcome {
	t.Helper()
	cmd := u.command(t, args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func TestUsage(t *testing.T) {
	asEachUser(t, func(t *testing.T, u user) {
		for _, c := range []struct {
			args string
			code int
			says string // in the one line on stderr
		}{
			{"run --size 1515", 2, `1515.*1514.*MTU`},
			{"run --size 59", 2, `60`},
			{"run --rate 40%", 2, `40%.*--link`},
			{"run --rate 5parsec", 2, `parsec.*pps`},
			{"run --rate 1000", 2, `1000pps`},
			{"run --rate 0pps", 2, `rate`},
			{"run --cpus 77", 2, `77.*choose from`},
			{"run --queues 0", 2, `queues`},
			{"run --burst 1025", 2, `1024`},
			{"run --set sizes=3", 2, `did you mean size\?`},
			{"run --set size", 2, `KNOB=VALUE`},
			{"run --duration 5", 2, `--duration 5: .*5s`},
			{"run --duration -5s", 2, `--duration -5s: at least`},
			{"run --count 0", 2, `--count 0: .*from 1 on`},
			{"run --count many", 2, `--count many`},
			{"run --interval 1us", 2, `at least 10ms`},
			{"run --link fast", 2, `fast`},
			{"run --format xml", 2, `json`},
			{"run --preset nosuch", 2, `wirespeed presets`},
			{"run --script /nosuch", 2, `/nosuch`},
			{"run --rx v1", 2, `run DEV --rx v1`},
			{"run --nosuch", 2, `--nosuch.*--help`},
			{"run a b", 2, `"b"`},
			{"run nosuchdev", 1, `nosuchdev: no such device`},
			{"presets nosuch", 2, `nosuch`},
			{"--format json", 2, "are for `wirespeed run`"},
			{"--script -", 2, "are for `wirespeed run`"},
			{"check --rate max", 2, `--rate is not for check`},
			{"sweep --knob sizes --from 60 --to 128", 2, `did you mean size\?`},
			{"restore --rate max", 2, `--rate is not for restore`},
			{"sink", 2, `which device\?`},
			{"sink v1 --listen :7000", 2, `--listen ":7000": an address`},
			{"sink v1 --listen 127.0.0.1:0", 2, `--key-file FILE, or WIRESPEED_KEY`},
			{"sink nosuchdev", 1, `nosuchdev: no such device`},
			{"run --far h:1", 2, `nothing leaves the lab`},
			{"run v0 --far h:1", 2, `WIRESPEED_KEY`},
			{"throughput v0", 2, `--rx DEV`},
			{"run --trial 1s", 2, "for `wirespeed throughput`"},
			{"", 2, "use `wirespeed run`"},
			{"nosuchdev", 2, "use `wirespeed run`"}, // no terminal here
		} {
			t.Run(c.args, func(t *testing.T) {
				got := u.run(t, strings.Fields(c.args)...)
				if got.code != c.code || got.stdout != "" {
					t.Errorf("exit code %d, want %d; stdout %q, want none", got.code, c.code, got.stdout)
				}
				if !regexp.MustCompile(`^wirespeed: [^\n]*` + c.says + `[^\n]*\n$`).MatchString(got.stderr) {
					t.Errorf("stderr %q, want one line with %q", got.stderr, c.says)
				}
			})
		}
	})
}

func TestHelp(t *testing.T) {
	u := user{home: t.TempDir()}
	for _, args := range []string{"--help", "-h", "run --help"} {
		got := u.run(t, strings.Fields(args)...)
		if got.code != 0 || got.stderr != "" || !strings.Contains(got.stdout, "--rate") || !strings.Contains(got.stdout, "wirespeed sweep [DEV]") {
			t.Errorf("%s: %+v", args, got)
		}
	}
	if got := u.run(t, "--version"); got.code != 0 || !strings.HasPrefix(got.stdout, "wirespeed ") {
		t.Errorf("--version: %+v", got)
	}
}

// TestPresets: what is listed can be printed, and what is printed is a preset.
func TestPresets(t *testing.T) {
	u := user{home: t.TempDir()}
	list := u.run(t, "presets")
	names := regexp.MustCompile(`(?m)^\S+`).FindAllString(list.stdout, -1)
	if list.code != 0 || len(names) < 3 {
		t.Fatalf("%+v, want at least three", list)
	}
	for _, name := range names {
		printed := u.run(t, "presets", name)
		file := filepath.Join(u.home, name+".toml")
		if err := os.WriteFile(file, []byte(printed.stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		again := u.run(t, "presets", file)
		if diff := cmp.Diff(printed.stdout, again.stdout); printed.code != 0 || again.code != 0 || diff != "" {
			t.Errorf("%s printed, and printed again from that (-want +got):\n%s%s", name, diff, again.stderr)
		}
	}
}

// TestPrecedence: a flag wins over the preset, and the later of two flags over the earlier.
func TestPrecedence(t *testing.T) {
	u := user{home: t.TempDir()}
	file := filepath.Join(u.home, "mine.toml")
	if err := os.WriteFile(file, []byte("[knobs]\nsize = 100\nburst = 4\nrate = \"7kpps\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(u.home, "script")
	if err := os.WriteFile(script, []byte("burst 16 # last word\nwait 300ms\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := u.run(t, "run", "--size", "64fcs", "--size", "200", "--preset", file, "--set", "dst-port=5000", "--script", script, "--format", "json", "--interval", "100ms")
	samples := objects(t, got, "sample")
	if len(samples) == 0 {
		t.Fatalf("no sample in %+v", got)
	}
	knobs, _ := samples[len(samples)-1]["knobs"].(map[string]any)
	want := map[string]any{"size": "200", "burst": "16", "rate": "7kpps", "dst-port": "5000"}
	for k, v := range want {
		if knobs[k] != v {
			t.Errorf("%s is %v, want %v", k, knobs[k], v)
		}
	}
}

// objects are the JSON lines of a type.
func objects(t *testing.T, o outcome, kind string) (all []map[string]any) {
	t.Helper()
	if o.code != 0 {
		t.Fatalf("exit code %d: %s", o.code, o.stderr)
	}
	for line := range strings.Lines(o.stdout) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if v["type"] == kind {
			all = append(all, v)
		}
	}
	return all
}

func TestRun(t *testing.T) {
	asEachUser(t, func(t *testing.T, u user) {
		got := objects(t, u.run(t, "run", "--count", "12345", "--rate", "max", "--queues", "2", "--format", "json"), "summary")
		if len(got) != 1 {
			t.Fatalf("%d summaries", len(got))
		}
		ladder, _ := got[0]["ladder"].(map[string]any)
		for _, step := range []string{"ring", "taken", "device", "arrived"} {
			if ladder[step] != 12345.0 {
				t.Errorf("%s: %v, want exactly 12345 frames", step, ladder[step])
			}
		}
	})
}

func TestEndsInOrder(t *testing.T) {
	asEachUser(t, func(t *testing.T, u user) {
		for _, sig := range []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP} {
			t.Run(unix.SignalName(sig), func(t *testing.T) {
				cmd := u.command(t, "run", "--rate", "5kpps", "--interval", "100ms")
				var stderr strings.Builder
				cmd.Stderr = &stderr
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				text := make([]byte, 8)
				if _, err := out.Read(text); err != nil || string(text) != "instant " {
					t.Fatalf("%q, %v: %s", text, err, stderr.String())
				}
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				var rest strings.Builder
				if _, err := io.Copy(&rest, out); err != nil {
					t.Fatal(err)
				}
				if err := cmd.Wait(); err != nil {
					t.Errorf("%v: %s", err, stderr.String())
				}
				if !strings.Contains(rest.String(), "\nResult: OK: ") {
					t.Errorf("no Result at the end of %q", rest.String())
				}
			})
		}
	})
}

func TestClosedStdoutEndsTheRun(t *testing.T) {
	u := user{home: t.TempDir()}
	cmd := u.command(t, "run", "--rate", "5kpps", "--interval", "50ms")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil || stderr.String() != "" {
			t.Errorf("%v, stderr %q", err, stderr.String())
		}
	case <-time.After(patient):
		_ = cmd.Process.Kill()
		t.Fatal("it goes on without a reader")
	}
}
