package main

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// The rooms of the program and the only arrows between them: what a room may import of ours. A room that is not here does not exist.
// Test files may import what they like; rooms are about the program.
var rooms = map[string][]string{
	".": {
		"ui", "ui/report", "ui/control", "ui/supervisor", "presets", "presets/knob",
		"engine", "engine/far", "engine/frame", "engine/meter", "nic", "nic/check", "nic/host", "nic/lab",
	},
	"ui":              {"ui/control", "presets", "presets/knob", "engine", "engine/meter", "nic", "nic/check"},
	"ui/report":       {"ui/control", "engine/receive", "ui/plot", "presets", "presets/knob", "engine", "engine/meter", "nic", "nic/check"},
	"ui/plot":         {"engine/meter"},
	"ui/control":      {"presets", "presets/knob", "engine", "engine/far", "engine/frame", "engine/meter", "engine/receive", "engine/xdp", "nic", "nic/check", "nic/host", "nic/trace"},
	"ui/supervisor":   {},
	"presets":         {"presets/knob", "presets/trafgen", "engine/frame", "engine/pcap"},
	"presets/trafgen": {"engine/frame"},
	"presets/knob":    {"engine", "engine/frame", "nic"}, // a knob of the frame parses and prints what engine.Config has of frame's types
	"engine":          {"engine/tpacket", "engine/frame", "engine/meter", "engine/pcap", "engine/receive", "engine/xdp"},
	"engine/far":      {},
	"engine/xdp":      {},
	"engine/tpacket":  {},
	"engine/frame":    {},
	"engine/pcap":     {},
	"engine/meter":    {},
	"engine/verify":   {},
	"engine/receive":  {"engine/tpacket", "engine/meter", "engine/verify"},
	"nic":             {"nic/host"},
	"nic/check":       {"nic", "nic/host"}, // facts of both, and what to make of them
	"nic/trace":       {},
	"nic/host":        {},
	"nic/lab":         {},
	// For tests only: no room may import these.
	"nic/lab/labtest": {"nic/lab"},
	"ui/control/real": {},
}

// fences name the rooms that may import a package of others, or one below it.
var fences = map[string][]string{
	"unsafe":                             {"engine/tpacket", "nic/trace"},
	"C":                                  {},
	"github.com/charmbracelet/bubbletea": {"ui"},
	"github.com/charmbracelet/lipgloss":  {"ui"},
	"github.com/charmbracelet/bubbles":   {"ui"},
	"github.com/NimbleMarkets/ntcharts":  {"ui"},
}

// given are the packages that the program is to be built on.
var given = []string{
	"github.com/charmbracelet/bubbletea",
	"github.com/charmbracelet/lipgloss",
	"github.com/mdlayher/packet",
	"github.com/vishvananda/netlink",
}

// top is all that the top level holds, besides dot files and what .gitignore lets lie about.
var top = []string{"main.go", "main_test.go", "ui", "engine", "nic", "presets", "go.mod", "go.sum", "README.md"}

const module = "wirespeed"

func TestRooms(t *testing.T) {
	found, err := violations(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

// violations returns all that is wrong with the rooms of a tree, a line each.
func violations(tree fs.FS) ([]string, error) {
	found, err := topLevel(tree)
	if err != nil {
		return nil, err
	}
	documented := make(map[string]bool) // by room
	imported := make(map[string]bool)
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		room := path.Dir(name)
		documented[room] = documented[room] || false
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		if isDoc(room, name, file) {
			documented[room] = true
		}
		for _, i := range file.Imports {
			to, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			imported[to] = true
			if why := forbidden(room, to); why != "" {
				found = append(found, fmt.Sprintf("%s imports %s: %s", name, to, why))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, room := range slices.Sorted(maps.Keys(documented)) {
		if _, ok := rooms[room]; !ok {
			found = append(found, room+": no such room; add it to the table, or put its files into one")
		}
		switch {
		case documented[room]:
		case room == ".":
			found = append(found, `main.go: no package comment ("Command wirespeed ...")`)
		default:
			found = append(found, room+`: no package comment ("Package NAME ...") in its doc.go`)
		}
	}
	for _, p := range given {
		if !imported[p] {
			found = append(found, "nobody imports "+p)
		}
	}
	return found, nil
}

// isDoc says whether a file holds the package comment where readers look for it: in doc.go, or in main.go of the command, whose folder
// is to hold no other file.
func isDoc(room, name string, file *ast.File) bool {
	if room == "." {
		return name == "main.go" && strings.HasPrefix(file.Doc.Text(), "Command "+module+" ")
	}
	return path.Base(name) == "doc.go" && strings.HasPrefix(file.Doc.Text(), "Package "+file.Name.Name+" ")
}

// forbidden says why a room may not import a package, "" if it may.
func forbidden(room, to string) string {
	if ours, ok := strings.CutPrefix(to, module+"/"); ok {
		if !slices.Contains(rooms[room], ours) {
			return fmt.Sprintf("%s may import of ours only %q", room, rooms[room])
		}
		return ""
	}
	for fenced, allowed := range fences {
		if (to == fenced || strings.HasPrefix(to, fenced+"/")) && !slices.Contains(allowed, room) {
			return fmt.Sprintf("that is for %q only", allowed)
		}
	}
	return ""
}

// topLevel returns what is missing from the top level and what is too much there.
func topLevel(tree fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		return nil, err
	}
	ignore, err := fs.ReadFile(tree, ".gitignore")
	if err != nil {
		return nil, err
	}
	var found []string
	seen := make(map[string]bool)
	for _, e := range entries {
		seen[e.Name()] = true
		if !slices.Contains(top, e.Name()) && !strings.HasPrefix(e.Name(), ".") && !(e.Type().IsRegular() && ignored(ignore, e.Name())) {
			found = append(found, e.Name()+" does not belong to the top level")
		}
	}
	for _, name := range top {
		if !seen[name] {
			found = append(found, name+" is missing from the top level")
		}
	}
	return found, nil
}

// ignored says whether a name at the top level matches a line of .gitignore, of which plain patterns are understood.
func ignored(gitignore []byte, name string) bool {
	lines := bufio.NewScanner(bytes.NewReader(gitignore))
	for lines.Scan() {
		if ok, err := path.Match(strings.TrimPrefix(lines.Text(), "/"), name); ok && err == nil {
			return true
		}
	}
	return false
}

// The test above is worth nothing unless it fails: a tree in order, and then with one fault each.
func TestRoomsSeesEveryFault(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	inOrder := fstest.MapFS{
		".gitignore":               file("/wirespeed\n*.test\n"),
		".ci/run":                  file("#!/bin/bash\n"),
		".ci/tools.go":             file("not Go at all"),
		"go.mod":                   file("module wirespeed\n"),
		"go.sum":                   file(""),
		"README.md":                file(""),
		"wirespeed":                file("ELF"),
		"main.go":                  file("// Command wirespeed sends.\npackage main\nimport _ \"wirespeed/ui\"\n"),
		"main_test.go":             file("package main\nimport _ \"unsafe\"\n"),
		"ui/doc.go":                file("// Package ui shows.\npackage ui\n"),
		"ui/a.go":                  file("package ui\nimport (\n_ \"github.com/charmbracelet/bubbletea\"\n_ \"github.com/charmbracelet/lipgloss\"\n_ \"wirespeed/ui/control\"\n)\n"),
		"ui/control/doc.go":        file("// Package control runs.\npackage control\n"),
		"ui/control/a.go":          file("package control\nimport _ \"wirespeed/engine\"\n"),
		"presets/doc.go":           file("// Package presets keeps.\npackage presets\n"),
		"engine/doc.go":            file("// Package engine sends.\npackage engine\nimport _ \"github.com/mdlayher/packet\"\n"),
		"engine/a_test.go":         file("package engine\nimport _ \"wirespeed/nic/lab\"\n"),
		"engine/tpacket/doc.go":    file("// Package tpacket maps.\npackage tpacket\nimport _ \"unsafe\"\n"),
		"engine/testdata/wrong.go": file("not Go at all"),
		"nic/doc.go":               file("// Package nic reads.\npackage nic\nimport _ \"github.com/vishvananda/netlink\"\n"),
	}
	if found, err := violations(inOrder); err != nil || len(found) != 0 {
		t.Fatalf("a tree in order: %v %q", err, found)
	}
	for _, c := range []struct {
		name      string
		file, src string // planted, src "" removes the file
		want      string // the one violation
	}{
		{"an arrow between engine and nic", "engine/b.go", "package engine\nimport _ \"wirespeed/nic\"\n", `engine/b.go imports wirespeed/nic: engine may import of ours only ["engine/tpacket" "engine/frame" "engine/meter" "engine/pcap" "engine/receive" "engine/xdp"]`},
		{"an arrow upwards", "engine/b.go", "package engine\nimport _ \"wirespeed/ui/control\"\n", "engine/b.go imports wirespeed/ui/control"},
		{"an arrow from a leaf", "engine/tpacket/b.go", "package tpacket\nimport _ \"wirespeed/engine\"\n", "engine/tpacket/b.go imports wirespeed/engine"},
		{"the screen reaches for the frames", "ui/b.go", "package ui\nimport _ \"wirespeed/engine/frame\"\n", "ui/b.go imports wirespeed/engine/frame"},
		{"a test's helper in the program", "nic/b.go", "package nic\nimport _ \"wirespeed/nic/lab/labtest\"\n", "nic/b.go imports wirespeed/nic/lab/labtest"},
		{"a renamed import", "engine/b.go", "package engine\nimport x \"wirespeed/nic\"\n", "engine/b.go imports wirespeed/nic"},
		{"a file for another system", "engine/b_plan9.go", "//go:build plan9\n\npackage engine\nimport _ \"wirespeed/nic\"\n", "engine/b_plan9.go imports wirespeed/nic"},
		{"unsafe outside its fence", "engine/b.go", "package engine\nimport _ \"unsafe\"\n", `engine/b.go imports unsafe: that is for ["engine/tpacket" "nic/trace"] only`},
		{"a terminal below the screen", "ui/control/b.go", "package control\nimport _ \"github.com/charmbracelet/bubbletea\"\n", "ui/control/b.go imports github.com/charmbracelet/bubbletea"},
		{"a part of a fenced module", "ui/control/b.go", "package control\nimport _ \"github.com/charmbracelet/bubbles/key\"\n", "ui/control/b.go imports github.com/charmbracelet/bubbles/key"},
		{"cgo", "engine/b.go", "package engine\nimport \"C\"\n", "engine/b.go imports C"},
		{"a new room", "engine/util/doc.go", "// Package util helps.\npackage util\n", "engine/util: no such room"},
		{"a room missing", "presets/doc.go", "", "presets is missing from the top level"},
		{"a comment in another file", "engine/tpacket/doc.go", "package tpacket\n", "engine/tpacket: no package comment"},
		{"a comment that is none", "engine/doc.go", "// Copyright.\npackage engine\nimport _ \"github.com/mdlayher/packet\"\n", "engine: no package comment"},
		{"the command's comment", "main.go", "package main\n", "main.go: no package comment"},
		{"a folder too much", "pkg/a.txt", "x", "pkg does not belong to the top level"},
		{"a file too much", "util.txt", "x", "util.txt does not belong to the top level"},
		{"a file missing", "README.md", "", "README.md is missing"},
		{"a given package that nobody uses", "nic/doc.go", "// Package nic reads.\npackage nic\n", "nobody imports github.com/vishvananda/netlink"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := maps.Clone(inOrder)
			tree[c.file] = file(c.src)
			if c.src == "" {
				delete(tree, c.file)
			}
			found, err := violations(tree)
			if err != nil || len(found) != 1 || !strings.HasPrefix(found[0], c.want) {
				t.Errorf("%v %q, want one that begins with %q", err, found, c.want)
			}
		})
	}
}
