// Command wirespeed is a live traffic console for Linux: see README.md, or wirespeed --help. This file is the wiring. Of the two processes
// (ui/supervisor) the first only reads the command line and supervises; all else happens in the second, the worker.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"wirespeed/engine"
	"wirespeed/engine/far"
	"wirespeed/nic"
	"wirespeed/nic/check"
	"wirespeed/nic/host"
	"wirespeed/nic/lab"
	"wirespeed/presets"
	"wirespeed/presets/knob"
	"wirespeed/ui"
	"wirespeed/ui/control"
	"wirespeed/ui/report"
	"wirespeed/ui/supervisor"
)

// Exit codes, those of DESIGN.md section 6.
const (
	ok = iota
	failed
	wrongUsage
	notPermitted
)

// Bounds of waiting for the run while everything is put back, which happens in any case.
const (
	inOrder = 15 * time.Second // the engine drains for two at most; a NIC may take its link down for each setting that is put back
	atOnce  = 200 * time.Millisecond
)

func main() { os.Exit(program(os.Args[1:])) }

// program runs in both processes; they read the same command line.
func program(args []string) int {
	c, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Print(help())
		return ok
	case err != nil:
		return complain(err)
	case supervisor.IsWorker():
		code := complain(work(c))
		supervisor.Outlast()
		return code
	}
	switch c.command {
	case "version":
		fmt.Println(version())
		return ok
	case "presets":
		return complain(printPresets(os.Stdout, c.arg))
	case "restore":
		return complain(restore(os.Stdout, c.run.Device))
	case "check":
		toMend, err := runCheck(c)
		if err == nil && toMend {
			return failed
		}
		return complain(err)
	case "console":
		if !supervisor.IsTerminal(os.Stdin) || !supervisor.IsTerminal(os.Stdout) {
			return complain(usage("the console needs a terminal on stdin and stdout: use `wirespeed run` for lines, JSON or CSV"))
		}
	}
	code, err := supervise(c)
	if err != nil {
		return complain(err)
	}
	return code
}

// complain prints an error as one line and returns its exit code.
func complain(err error) int {
	if err == nil {
		return ok
	}
	fmt.Fprintln(os.Stderr, "wirespeed:", strings.ReplaceAll(err.Error(), "\n", "; "))
	switch {
	case errors.Is(err, knob.ErrUsage):
		return wrongUsage
	case errors.Is(err, nic.ErrNotPermitted), errors.Is(err, engine.ErrNotPermitted), errors.Is(err, lab.ErrRefused):
		return notPermitted
	}
	return failed
}

// usageError is a wrong command line: errors.Is(err, knob.ErrUsage).
type usageError string

func (e usageError) Error() string        { return string(e) }
func (e usageError) Is(target error) bool { return target == knob.ErrUsage }

func usage(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// supervise runs the worker, in a lab's namespaces or in our own, and returns its exit code.
func supervise(c commandLine) (int, error) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = os.Args
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if c.run.Lab {
		lab.Command(cmd)
	}
	o := supervisor.Options{Console: c.command == "console"}
	if !c.run.Lab { // a lab vanishes with the worker
		o.PutBack = func(pid int) ([]string, error) { return nic.RestoreAfter("", pid) }
	}
	code, err := supervisor.Run(cmd, o)
	if err != nil && c.run.Lab {
		err = lab.StartError(err)
	}
	return code, err
}

// work is the worker: it opens a run and shows it, until the run ends or somebody ends it.
func work(c commandLine) (err error) {
	ends, err := supervisor.Worker()
	if err != nil {
		return err
	}
	if c.command == "sink" {
		return workSink(c, ends)
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	if o.Lab {
		if err := makeLab(&o); err != nil {
			return err
		}
	}
	var run *control.Run
	var saidAtEnd sync.Once
	putBack := func(patience time.Duration) (err error) {
		if run != nil {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			err = run.Close(ctx)
			saidAtEnd.Do(func() { say(run.Notes()) })
		}
		return err
	}
	engine.Spawn = supervisor.Guarded(func() { _ = putBack(atOnce) })
	if run, err = control.New(o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, putBack(inOrder)) }() // also while a panic of this goroutine goes on

	if o.DryRun {
		return printPlan(os.Stdout, run, o.Device)
	}
	ctx, stop := supervisor.Watch(context.Background(), ends, supervisor.Reactions{
		Go: engine.Spawn, Resumed: run.Resume, AtOnce: func() { _ = putBack(atOnce); os.Exit(128 + int(unix.SIGINT)) },
	})
	defer stop()
	plant()
	return show(ctx, run, c)
}

// workSink is the worker of the receiving end.
func workSink(c commandLine, ends <-chan os.Signal) (err error) {
	o, err := c.sinkOptions()
	if err != nil {
		return err
	}
	var f *control.FarEnd
	putBack := func() (err error) {
		if f != nil {
			err = f.Close()
		}
		return err
	}
	engine.Spawn = supervisor.Guarded(func() { _ = putBack() })
	if f, err = control.NewFarEnd(o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, putBack()) }()
	ctx, stop := supervisor.Watch(context.Background(), ends, supervisor.Reactions{
		Go: engine.Spawn, Resumed: func() {}, AtOnce: func() { _ = putBack(); os.Exit(128 + int(unix.SIGINT)) },
	})
	defer stop()
	return report.Sink(ctx, f, c.report)
}

// say prints notes on stderr, a line each.
func say(notes []string) {
	for _, n := range notes {
		fmt.Fprintln(os.Stderr, "wirespeed:", n)
	}
}

// printPlan lists what the command line would change on the device.
func printPlan(w io.Writer, run *control.Run, dev string) error {
	lines := run.Plan()
	if len(lines) == 0 {
		lines = []string{"nothing would be changed on " + dev}
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// restore puts back what sessions that are over have left changed: on one device, or on all.
func restore(w io.Writer, dev string) error {
	var notes []string
	var err error
	if dev == "" {
		notes, err = nic.RestoreAll("")
	} else {
		notes, err = nic.RestoreOne("", dev)
	}
	if len(notes) == 0 && err == nil {
		notes = []string{"nothing to put back"}
	}
	for _, n := range notes {
		if _, err := fmt.Fprintln(w, n); err != nil {
			return err
		}
	}
	return err
}

// makeLab finishes the namespaces that the supervisor has started this process in, and makes the devices.
func makeLab(o *control.Options) error {
	if err := lab.Enter(); err != nil {
		return err
	}
	o.Device, o.Rx, o.Foreign = lab.Sender, lab.Receiver, lab.Foreign
	return lab.Pair(lab.Sender, lab.Receiver, max(4, min(runtime.NumCPU(), 64)))
}

// show runs the front end.
func show(ctx context.Context, run *control.Run, c commandLine) error {
	switch c.command {
	case "run":
		return report.Run(ctx, run, c.report)
	case "sweep":
		if c.forced {
			say([]string{"burst is swept on path qdisc with slot segmented, unless --path or --slot say otherwise"})
		}
		return c.toOutput(func(o report.Options) error { return report.Sweep(ctx, run, c.sweep, o) })
	case "throughput":
		return c.toOutput(func(o report.Options) error { return report.Throughput(ctx, run, c.through, o) })
	}
	if c.run.Lab { // it may send at once; a real device waits for space
		if err := run.Start(); err != nil {
			return err
		}
	}
	if !supervisor.CanSuspend() {
		c.console.NoSuspend = "ctrl+z: there is no shell to come back to"
	}
	return ui.Run(ctx, run, c.console)
}

// toOutput makes a report, on stdout or in the file of --output.
func (c commandLine) toOutput(make func(report.Options) error) (err error) {
	if c.output != "" {
		f, err := os.Create(c.output)
		if err != nil {
			return usage("--output: %v", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		c.report.Out = f
	}
	return make(c.report)
}

// formatByName takes the format of a test's report from the ending of --output, where none is named.
func (c *commandLine) formatByName(fs *pflag.FlagSet) error {
	if ext := strings.TrimPrefix(filepath.Ext(c.output), "."); !fs.Changed("format") {
		c.report.Format = "table"
		if slices.Contains(report.SweepFormats, ext) {
			c.report.Format = ext
		}
	}
	if !slices.Contains(report.SweepFormats, c.report.Format) {
		return usage("--format %s: %s has %s", c.report.Format, c.command, strings.Join(report.SweepFormats, ", "))
	}
	return nil
}

// checkThroughput completes a throughput test's options and refuses those that are not for it.
func (c *commandLine) checkThroughput(fs *pflag.FlagSet) error {
	for _, name := range []string{"script", "count", "duration", "interval", "size", "rate"} {
		if fs.Changed(name) {
			return usage("--%s is not for throughput: it has its own (--sizes, --trial)", name)
		}
	}
	if c.run.Lab && c.run.Rx != "" {
		return usage("--rx %s needs a device to send from: wirespeed throughput DEV --rx %[1]s (the lab has a receiver of its own)", c.run.Rx)
	}
	if !c.run.Lab && c.run.Rx == "" && c.far == "" {
		return usage("throughput %s: loss is told by a receiver: name one with --rx DEV, or --far HOST:PORT", c.run.Device)
	}
	if c.through.Trial == 0 {
		c.through.Trial = 10 * time.Second
		if c.run.Lab {
			c.through.Trial = time.Second
		}
	}
	return c.formatByName(fs)
}

// percent is a flag that is a share, written in percent; it may be so much at least and at most.
func percent(to *float64, least, most float64) value {
	return value{"PERCENT", func(text string) error {
		v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || !(v >= least && v <= most) {
			return fmt.Errorf("a percentage from %g to %g, such as 0.1%%", least, most)
		}
		*to = v / 100
		return nil
	}}
}

// parseSizes reads frame sizes with FCS.
func parseSizes(text string) (sizes []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSuffix(part, "fcs"))
		if err != nil || n < 64 || n > 65535 {
			return nil, errors.New("sizes with FCS from 64 on, as RFC 2544 has them: 64,512,1518")
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// checkSweep completes a sweep's options and refuses those that are not for it.
func (c *commandLine) checkSweep(fs *pflag.FlagSet) error {
	for _, name := range []string{"knob", "from", "to"} {
		if !fs.Changed(name) {
			return usage("sweep needs --%s: wirespeed sweep [DEV] --knob size --from 60 --to 128", name)
		}
	}
	for _, name := range []string{"script", "count", "duration", "interval"} {
		if fs.Changed(name) {
			return usage("--%s is not for sweep: it ends when it has gone through its values (--dwell is the time at each)", name)
		}
	}
	if err := c.formatByName(fs); err != nil {
		return err
	}
	if c.sweep.Knob == "burst" && !fs.Changed("path") && !fs.Changed("slot") {
		// What a burst costs shows only where it reaches the driver as one.
		c.run.Settings = slices.Concat([]knob.Setting{{Knob: "path", Value: "qdisc"}, {Knob: "slot", Value: "segmented"}}, c.run.Settings)
		c.forced = true
	}
	return c.sweep.Complete()
}

// plant is for tests of what a panic leaves behind.
func plant() {
	if os.Getenv("WIRESPEED_PLANT") == "panic" {
		engine.Spawn(func() { time.Sleep(time.Second); panic("planted by WIRESPEED_PLANT") })
	}
}

// checkOptions refuses what check does not take.
func (c *commandLine) checkOptions(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		if f.Name != "fix" && f.Name != "format" {
			err = usage("--%s is not for check: it takes --fix and --format line or json", f.Name)
		}
	})
	switch {
	case err != nil:
	case c.fix && c.run.Device == "":
		err = usage("--fix needs a device: wirespeed check DEV --fix")
	case c.report.Format != "line" && c.report.Format != "json":
		err = usage("--format %s: check has line and json", c.report.Format)
	}
	return err
}

// runCheck looks at the machine, and at the device if one is named, mends it if asked to, prints what is found, and says whether there is
// something to mend.
func runCheck(c commandLine) (toMend bool, err error) {
	var d *nic.Device
	if c.run.Device != "" {
		d, err = nic.Open(c.run.Device)
		if errors.Is(err, nic.ErrNotFound) { // 1 would say that something is to be mended
			return false, usage("%v: ip link lists the devices", err)
		}
		if err != nil {
			return false, err
		}
		defer d.Close()
	}
	look := func() ([]check.Finding, error) {
		facts, err := check.Look(host.Live(), d)
		if err != nil {
			return nil, err
		}
		return check.Judge(facts), nil
	}
	findings, err := look()
	if err != nil {
		return false, err
	}
	var mended []check.Mended
	if c.fix {
		if mended, err = mend(d, findings); err != nil {
			return false, err
		}
		if findings, err = look(); err != nil {
			return false, err
		}
	}
	if err := report.Check(c.report, c.run.Device, findings, mended); err != nil {
		return false, err
	}
	if check.Count(findings, check.Unknown) == len(findings) {
		return false, fmt.Errorf("check: nothing can be read here: run as root: %w", nic.ErrNotPermitted)
	}
	return check.ToMend(findings), nil
}

// mend changes what findings ask for and leaves it so; the guard's journal keeps the way back.
func mend(d *nic.Device, findings []check.Finding) (mended []check.Mended, err error) {
	if !slices.ContainsFunc(findings, func(f check.Finding) bool { return f.Fixable && (f.State == check.Bad || f.State == check.Warn) }) {
		if check.ToMend(findings) {
			why := ""
			if os.Geteuid() != 0 {
				why = " (settings need root)"
			}
			say([]string{"none of this can be mended by --fix here: see each finding's command" + why})
		}
		return nil, nil
	}
	g, notes, err := nic.NewGuard(d, nic.GuardOptions{})
	if errors.Is(err, nic.ErrHeld) { // the findings are worth seeing all the same
		say([]string{"--fix changes nothing: " + err.Error() + ", or turn its knobs there"})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	g.Keep(true)
	mended = check.Mend(findings, func(setting, value string) (string, error) {
		now, _, err := g.Set(setting, value)
		return now, err
	})
	said, err := g.Close()
	say(slices.Concat(notes, said))
	return mended, err
}

// printPresets lists all presets, or prints the named one as TOML.
func printPresets(w io.Writer, name string) error {
	if name != "" {
		p, err := presets.Load(name)
		if err != nil {
			return err
		}
		_, err = w.Write(presets.Marshal(p))
		return err
	}
	list, err := presets.List()
	for _, p := range list {
		if p.Err != nil {
			fmt.Fprintln(os.Stderr, "wirespeed:", p.Err)
			continue
		}
		if _, err := fmt.Fprintf(w, "%-20s %s\n", p.Name, p.Title); err != nil {
			return err
		}
	}
	return err
}

func version() string {
	if info, found := debug.ReadBuildInfo(); found {
		return "wirespeed " + info.Main.Version + " " + info.GoVersion
	}
	return "wirespeed"
}

// commandLine is the command line, understood as far as it can be without a device.
type commandLine struct {
	command string // console, run, sweep, check, restore, presets or version
	arg     string // of presets
	run     control.Options
	preset  string
	script  string
	report  report.Options
	console ui.Options
	fix     bool // of check
	sweep   knob.Sweep
	through control.ThroughputSpec
	output  string // of sweep and throughput: a file, "" stdout
	listen  string
	far     string
	keyFile string
	xdp     bool // of sink
	forced  bool // path and slot are the sweep's choice
}

// parse reads the command line. Values of knobs are texts until there is a device to hold them against.
func parse(args []string) (commandLine, error) {
	c := commandLine{command: "console"}
	c.report.Out, c.report.Log = os.Stdout, os.Stderr
	fs := c.flags()
	showVersion := fs.BoolP("version", "V", false, "print the version")
	if err := fs.Parse(args); err != nil {
		return c, flagError(err)
	}
	words := fs.Args()
	if len(words) > 0 && slices.Contains([]string{"console", "run", "check", "presets", "restore", "sink", "sweep", "throughput"}, words[0]) {
		c.command, words = words[0], words[1:]
	}
	switch {
	case *showVersion:
		c.command = "version"
	case len(words) > 1:
		return c, usage("%q is one word too many: wirespeed [run] [DEV] [OPTIONS]", words[1])
	case len(words) == 0:
	case words[0] == "":
		return c, usage("the device's name is empty: leave it out for the lab")
	case c.command == "presets":
		c.arg = words[0]
	default:
		c.run.Device = words[0]
	}
	c.run.Lab, c.run.Console = c.run.Device == "", c.command == "console"
	switch {
	case c.command == "restore":
		return c, noOptions(fs, c.command)
	case c.command == "check":
		return c, c.checkOptions(fs)
	case c.command == "sink":
		if err := c.onlyFor(fs, "sink", "receiver", "sink", "xdp", "listen", "key-file", "format", "interval", "duration", "i-know"); err != nil {
			return c, err
		}
		_, err := c.sinkOptions()
		return c, err
	case c.listen != "" || c.xdp:
		return c, usage("--listen and --xdp are for `wirespeed sink DEV` (a sender has --far, and --sink xdp)")
	case c.fix:
		return c, usage("--fix is for `wirespeed check DEV`")
	case c.command != "throughput" && slices.ContainsFunc(throughputFlags, fs.Changed):
		return c, usage("--%s is for `wirespeed throughput`", throughputFlags[slices.IndexFunc(throughputFlags, fs.Changed)])
	case c.command == "throughput":
		if slices.ContainsFunc(sweepFlags[:len(sweepFlags)-1], fs.Changed) {
			return c, usage("--%s is for `wirespeed sweep`", sweepFlags[slices.IndexFunc(sweepFlags, fs.Changed)])
		}
		if err := c.checkThroughput(fs); err != nil {
			return c, err
		}
	case c.command != "sweep" && slices.ContainsFunc(sweepFlags, fs.Changed):
		return c, usage("--%s is for `wirespeed sweep`", sweepFlags[slices.IndexFunc(sweepFlags, fs.Changed)])
	case c.run.Lab && c.run.Rx != "":
		return c, usage("--rx %s needs a device to send from: wirespeed run DEV --rx %[1]s (the lab has a receiver of its own)", c.run.Rx)
	case c.command == "console" && (fs.Changed("format") || c.script == "-"):
		return c, usage("--format, and --script from stdin, are for `wirespeed run`")
	case c.command != "console" && fs.Changed("hz"):
		return c, usage("--hz is for the console: use --interval")
	case c.command == "sweep":
		if err := c.checkSweep(fs); err != nil {
			return c, err
		}
	}
	return c, c.farOptions()
}

// onlyFor refuses options that a command does not take.
func (c *commandLine) onlyFor(fs *pflag.FlagSet, command string, allowed ...string) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		if !slices.Contains(allowed, f.Name) {
			err = usage("--%s is not for %s: it takes --%s", f.Name, command, strings.Join(allowed, ", --"))
		}
	})
	return err
}

// sinkOptions are what the receiving end is made of.
func (c commandLine) sinkOptions() (o control.FarEndOptions, err error) {
	o = control.FarEndOptions{
		Device: c.run.Device, Verify: true, IKnow: c.run.IKnow, Interval: c.run.Interval, Duration: c.run.Limit.Duration, Listen: c.listen,
	}
	o.Sink.XDP = c.xdp
	chosen := false
	for _, s := range c.run.Settings {
		switch {
		case s.Knob == "receiver" && (s.Value == "verify" || s.Value == "count"):
			o.Verify, chosen = s.Value == "verify", true
		case s.Knob == "receiver":
			return o, usage("receiver %q: a sink has verify and count", s.Value)
		default: // sink
			if o.Sink, err = knob.ParseSink(s.Value); err != nil {
				return o, err
			}
		}
	}
	if o.Sink.XDP && o.Sink.Every == 0 && !chosen {
		o.Verify = false // nothing comes up that could be looked at
	}
	switch {
	case o.Device == "":
		return o, usage("which device? wirespeed sink DEV")
	case o.Listen == "" && c.keyFile != "":
		return o, usage("--key-file is for --listen ADDRESS:PORT, or for --far of a sender")
	case o.Listen != "":
		if err := far.CheckAddress(o.Listen); err != nil {
			return o, usage("--%v", err)
		}
		if o.Key, err = far.ReadKey(c.keyFile); err != nil {
			return o, usage("%v", err)
		}
	}
	return o, nil
}

// farOptions completes the run with its connection to the far end.
func (c *commandLine) farOptions() (err error) {
	host, port, err := net.SplitHostPort(c.far)
	switch {
	case c.far == "" && c.keyFile == "":
		return nil
	case c.far == "":
		return usage("--key-file is for --far HOST:PORT, or for --listen of a sink")
	case err != nil || host == "" || port == "":
		return usage("--far %q: write it as HOST:PORT", c.far)
	case c.run.Lab:
		return usage("--far needs a device to send from: wirespeed run DEV --far %s (nothing leaves the lab)", c.far)
	}
	c.run.Far = c.far
	if c.run.FarKey, err = far.ReadKey(c.keyFile); err != nil {
		return usage("%v", err)
	}
	return nil
}

// sweepFlags are the options of sweep alone.
var throughputFlags = []string{"sizes", "trial", "tolerance", "resolution"}

var sweepFlags = []string{"knob", "from", "to", "step", "dwell", "direction", "bisect", "output"}

// noOptions refuses every option.
func noOptions(fs *pflag.FlagSet, command string) (err error) {
	fs.Visit(func(f *pflag.Flag) { err = usage("--%s is not for %s: it takes a device at most", f.Name, command) })
	return err
}

// flagError is an error of pflag as one of usage; --help stays what it is.
func flagError(err error) error {
	var wrong *pflag.InvalidValueError
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &wrong):
		return usage("--%s %s: %v", wrong.GetFlag().Name, wrong.GetValue(), wrong.Unwrap())
	}
	return usage("%v: wirespeed --help lists the options", err)
}

// flags declares the options; those of knobs come from the registry.
func (c *commandLine) flags() *pflag.FlagSet {
	fs := pflag.NewFlagSet("wirespeed", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.SetOutput(io.Discard)
	for _, k := range knob.All() {
		about := strings.ReplaceAll(k.Help+": "+k.Values+" (default "+k.Default+")", "`", "") // pflag takes a quoted word for the value's name
		fs.Var(value{"VALUE", func(text string) error { return c.set(k.Name, text) }}, k.Name, about)
	}
	fs.Var(value{"KNOB=VALUE", func(text string) error {
		name, v, found := strings.Cut(text, "=")
		if !found {
			return errors.New("write it as KNOB=VALUE")
		}
		return c.set(name, v)
	}}, "set", "set any knob, those with a parameter too: "+families())
	fs.Var(value{"N", func(text string) (err error) {
		if c.run.Limit.Count, err = strconv.ParseUint(text, 10, 64); err != nil || c.run.Limit.Count == 0 {
			return errors.New("a number of frames from 1 on")
		}
		return nil
	}}, "count", "end after N frames, exactly, over all queues")
	fs.Var(duration(&c.run.Limit.Duration, time.Millisecond), "duration", "end after this time: 10s, 1m30s")
	fs.Var(duration(&c.run.Interval, 10*time.Millisecond), "interval", "time of a sample (default 1s)")
	fs.StringVar(&c.preset, "preset", "", "begin with a preset, by `NAME or FILE`")
	fs.StringVar(&c.script, "script", "", "carry out the lines of `FILE` (- is stdin)")
	fs.StringVar(&c.run.Rx, "rx", "", "the receiving `DEV`ice: its address is the default dst-mac")
	fs.StringVar(&c.report.Format, "format", "line", "`FORMAT` of the output of run: "+strings.Join(report.Formats, ", "))
	fs.Float64Var(&c.console.Rate, "hz", 4, "`N` looks a second of the console, at most 20")
	fs.StringVar(&c.sweep.Knob, "knob", "", "sweep: the `KNOB` that is turned")
	fs.StringVar(&c.sweep.From, "from", "", "sweep: the `VALUE` it begins with")
	fs.StringVar(&c.sweep.To, "to", "", "sweep: the `VALUE` it ends with")
	fs.StringVar(&c.sweep.Step, "step", "", "sweep: from `VALUE` to value (default: some 40 to 64 values, finer where something is found)")
	c.sweep.Dwell = knob.DefaultDwell
	fs.Var(duration(&c.sweep.Dwell, knob.LeastDwell), "dwell", "sweep: time at each value (default 1s)")
	fs.StringVar(&c.sweep.Direction, "direction", "", "sweep: `WAY` through the values: up, down, or updown (hysteresis)")
	fs.BoolVar(&c.sweep.Bisect, "bisect", false, "sweep: find the edge of a regime by halving, in few steps")
	fs.Var(value{"LIST", func(text string) (err error) {
		c.through.Sizes, err = parseSizes(text)
		return err
	}}, "sizes", "throughput: frame sizes with FCS (default 64,128,256,512,1024,1280,1518)")
	fs.Var(duration(&c.through.Trial, 10*time.Millisecond), "trial", "throughput: time of a trial (default 1s in the lab, else 10s; RFC 2544 asks for 60s)")
	fs.Var(percent(&c.through.Tolerance, 0, 50), "tolerance", "throughput: share of the frames that a trial may lose and pass (default 0)")
	c.through.Resolution = 0.01
	fs.Var(percent(&c.through.Resolution, 0.01, 50), "resolution", "throughput: how finely the rate is found, of the highest (default 1%)")
	fs.StringVar(&c.output, "output", "", "sweep, throughput: write to `FILE` instead of stdout (its ending .json, .csv or .svg is the format)")
	fs.BoolVar(&c.xdp, "xdp", false, "sink: drop the frames in the driver, as root; the same as --sink xdp --receiver count")
	fs.StringVar(&c.listen, "listen", "", "sink: tell a console what arrives; `ADDRESS:PORT` of this machine")
	fs.StringVar(&c.far, "far", "", "show what arrives at another machine: `HOST:PORT` of its wirespeed sink DEV --listen")
	fs.StringVar(&c.keyFile, "key-file", "", "the key that --listen and --far share, in a `FILE` (or in the environment: "+far.KeyVariable+")")
	fs.BoolVar(&c.fix, "fix", false, "check: mend what can be, and leave it so (`wirespeed restore` undoes it)")
	fs.BoolVar(&c.run.Keep, "keep", false, "leave what was changed on the device as it is (`wirespeed restore` takes it back)")
	fs.BoolVar(&c.run.DryRun, "dry-run", false, "list what would be changed on the device, change nothing, and end")
	fs.BoolVar(&c.run.IKnow, "i-know", false, "send even on the device of the default route or of your ssh session")
	return fs
}

// set remembers what a knob is to be; whether it can be is known once there is a device.
func (c *commandLine) set(name, v string) error {
	_, err := knob.Find(name)
	c.run.Settings = append(c.run.Settings, knob.Setting{Knob: name, Value: v})
	return err
}

// value is a flag whose text a function takes.
type value struct {
	kind string
	take func(string) error
}

func (v value) String() string        { return "" }
func (v value) Type() string          { return v.kind }
func (v value) Set(text string) error { return v.take(text) }

// duration is a flag of at least so much time.
func duration(to *time.Duration, least time.Duration) value {
	return value{"TIME", func(text string) error {
		d, err := time.ParseDuration(text)
		switch {
		case err != nil && strings.Trim(text, "0123456789.") == "":
			return fmt.Errorf("the unit is missing: did you mean %ss?", text)
		case err != nil:
			return errors.New("not a time: use 10s, 500ms or 1m30s")
		case d < least:
			return fmt.Errorf("at least %v", least)
		}
		*to = d
		return nil
	}}
}

// options reads preset and script and completes what a run is made of. Precedence: defaults, preset, flags, then steps as they run.
func (c commandLine) options() (o control.Options, err error) {
	o = c.run
	if c.preset != "" {
		p, err := presets.Load(c.preset)
		if err != nil {
			return o, err
		}
		o.Settings = slices.Concat(p.Knobs, c.run.Settings)
		o.Preset, o.Needs = p.Name, p.Needs
		if c.command != "sweep" && c.command != "throughput" { // their own way through the knobs
			o.Script = p.Steps
		}
	}
	name, file := c.script, os.Stdin
	switch name {
	case "":
		return o, nil
	case "-":
		name = "stdin"
	default:
		if file, err = os.Open(name); err != nil {
			return o, usage("script: %v", err)
		}
		defer file.Close()
	}
	o.Scripted = true
	steps, err := knob.ParseScript(name, file)
	o.Script = slices.Concat(o.Script, steps)
	return o, err
}

// families are the knobs that have no flag of their own.
func families() string {
	var forms []string
	for _, k := range knob.Families() {
		forms = append(forms, k.Name)
	}
	return strings.Join(forms, ", ")
}

// help is the text of --help.
func help() string {
	return `wirespeed: a live traffic console for Linux

  wirespeed [DEV]             the console; no DEV: the lab, a veth pair in a private network namespace
  wirespeed run [DEV]         the same without a screen: lines on stdout until --duration, --count or a signal
  wirespeed sink DEV          the receiving end of two machines: counts and verifies what arrives; --listen tells a sender's --far
  wirespeed check [DEV]       is machine (and device) set up to send at wirespeed? exit code 0 yes, 1 something to mend
  wirespeed restore [DEV]     put back what sessions that were killed, or ended with --keep, have left changed
  wirespeed throughput [DEV] --rx DEV    RFC 2544: the highest rate without loss for each frame size, loss by rate, back-to-back
  wirespeed sweep [DEV] --knob K --from A --to B    turn a knob through its values, and name where pps changes
  wirespeed presets [NAME]    list the presets, or print one as TOML
  wirespeed --help, --version

Options, knobs first (also lines of a script, keys of a preset and, in the console, after ":"):

` + new(commandLine).flags().FlagUsagesWrapped(120) + `
Exit code: 0 ok, 1 failed, 2 wrong usage, 3 not permitted.
Sending on a device needs CAP_NET_RAW: root, or setcap cap_net_raw,cap_net_admin+ep ./wirespeed. The lab needs no rights.
`
}
