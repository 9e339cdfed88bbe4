package presets

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/presets/knob"
)

var update = flag.Bool("update", false, "rewrite the tables of README.md")

// TestREADME: the tables in README.md are those of the registries. `go test ./presets -run README -update` rewrites them.
func TestREADME(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // no presets of whoever runs the test
	const file = "../README.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	now := string(data)
	for name, table := range map[string]string{"knobs": knobTable(), "commands": commandTable(), "presets": presetTable(t)} {
		now = section(t, now, name, table)
	}
	if now == string(data) {
		return
	}
	if !*update {
		t.Errorf("README.md is stale: go test ./presets -run README -update (-README +registry):\n%s", cmp.Diff(string(data), now))
		return
	}
	if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}

// section replaces what is between <!-- name --> and <!-- /name -->.
func section(t *testing.T, text, name, table string) string {
	t.Helper()
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	head, rest, ok1 := strings.Cut(text, begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("README.md has no place for the table: %s... %s", begin, end)
	}
	return head + begin + table + end + tail
}

func knobTable() string {
	var b strings.Builder
	b.WriteString("| knob and flag | default | values | |\n|---|---|---|---|\n")
	for _, k := range append(knob.All(), knob.Families()...) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Name, k.Default, k.Values, k.Help)
	}
	return b.String()
}

func commandTable() string {
	var b strings.Builder
	b.WriteString("| line | |\n|---|---|\n")
	for _, u := range knob.Usages() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", u.Form, u.Help)
	}
	return b.String()
}

func presetTable(t *testing.T) string {
	t.Helper()
	list, err := List()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| preset | |\n|---|---|\n")
	for _, p := range list {
		fmt.Fprintf(&b, "| `%s` | %s |\n", p.Name, p.Title)
	}
	return b.String()
}
