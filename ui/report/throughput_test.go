package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirespeed/presets/knob"
	"wirespeed/ui/control"
)

// fakeThroughput plays a test of two trials.
type fakeThroughput struct{ cancelled bool }

func (f *fakeThroughput) Events() []control.Event { return nil }

func (f *fakeThroughput) Throughput(ctx context.Context, spec control.ThroughputSpec, tell func(control.Trial)) (*control.Throughput, error) {
	some, all := uint64(600), uint64(500)
	lossy := control.Trial{Size: 64, Took: time.Second, Offered: 1000, PPS: 1000, Arrived: &some, Lost: 390, Receiver: 10}
	clean := control.Trial{Size: 64, Asked: 500, Took: time.Second, Offered: 500, PPS: 500, Arrived: &all}
	tell(lossy)
	tell(clean)
	f.cancelled = ctx.Err() != nil
	return &control.Throughput{
		ThroughputSpec: spec, Sender: "v0", Receiver: "v1",
		Sizes: []*control.SizeResult{
			{Size: 64, Line: 2000, Most: lossy, Best: &clean, Limit: control.VerdictLoss, Curve: []control.Trial{lossy, clean}},
			{Size: 9018, Skipped: "size 9014: the limit on v0 is 1514"},
		},
		Ended: "interrupted",
	}, nil
}

func TestThroughputFormats(t *testing.T) {
	spec := control.ThroughputSpec{Trial: time.Second, Resolution: 0.01}
	print := func(format string) string {
		t.Helper()
		var out, log bytes.Buffer
		if err := throughput(t.Context(), &fakeThroughput{}, spec, Options{Format: format, Out: &out, Log: &log}); err != nil {
			t.Fatal(err)
		}
		if want := "  64 B  asked max: 1,000 pps left, 390 lost of 1,000: loss (10 dropped by the receiver's own machine)\n"; !strings.HasPrefix(log.String(), want) {
			t.Errorf("log %q, want %q", log.String(), want)
		}
		return out.String()
	}
	for _, want := range []string{
		"      64          1,000            500        0.3       25.0                -  above it frames are lost: 390 of 1,000 at most speed",
		"    9018              -              -          -          -                -  size 9014: the limit on v0 is 1514",
		"      64  100%: 39.000  90%: 0.000", "ended before its time: interrupted",
	} {
		if got := print("table"); !strings.Contains(got, want+"\n") {
			t.Errorf("table:\n%s\nwant the line\n%s", got, want)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(print("csv"))).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][1] != "size_fcs" || rows[1][7] != "390" || rows[2][2] != "500" {
		t.Errorf("%v %q", err, rows)
	}
	lines := strings.Split(strings.TrimSpace(print("json")), "\n")
	var last throughputJSON
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(lines) != 3 || *last.Results[0].PPS != 500 ||
		*last.Results[0].Percent != 25 || last.Results[1].PPS != nil || last.Results[0].Longest != nil || *last.Ended != "interrupted" {
		t.Errorf("%v %q", err, lines)
	}
	picture := print("svg")
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(picture, "throughput v0 -&gt; v1") {
		t.Error("the picture has no title")
	}
	if err := throughput(t.Context(), &fakeThroughput{}, spec, Options{Format: "xml", Out: io.Discard}); !errors.Is(err, knob.ErrUsage) {
		t.Errorf("format xml: %v", err)
	}
}

// TestThroughputWithoutReader: it ends in order, and that is no failure.
func TestThroughputWithoutReader(t *testing.T) {
	f := &fakeThroughput{}
	if err := throughput(t.Context(), f, control.ThroughputSpec{}, Options{Format: "json", Out: deaf{}}); err != nil || !f.cancelled {
		t.Errorf("%v, cancelled: %t", err, f.cancelled)
	}
}

type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, syscall.EPIPE }
