package ui

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// The README's picture is made of what the real console wrote: testdata/console.ansi is a screen of 120 by 40 that tmux
// captured from `wirespeed` in its lab:
//
//	tmux new-session -d -x 120 -y 40 ./wirespeed
//	tmux capture-pane -e -p > ui/testdata/console.ansi
//	go test ./ui -run Picture -update
const (
	captured = "testdata/console.ansi"
	picture  = "../.docs/console.svg"
)

func TestPictureIsTheRealScreen(t *testing.T) {
	screen, err := os.ReadFile(captured)
	if err != nil {
		t.Fatal(err)
	}
	got := svgOf(screen, 120, 40)
	if updating() {
		if err := os.MkdirAll(filepath.Dir(picture), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(picture, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not made of %s, run with -update (-want +got):\n%s", picture, captured, diff)
	}
}

// pen is how a cell is drawn.
type pen struct {
	fore      string
	bold, dim bool
	reverse   bool
}

const (
	cellW, cellH = 8.4, 17.0
	paper, text  = "#14171c", "#d7dae0"
)

// svgOf draws a captured screen. Points, blocks and lines are shapes, so that they look right in any font.
func svgOf(screen []byte, w, h int) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %.1f" font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="14">`+"\n", float64(w)*cellW+16, float64(h)*cellH+16)
	fmt.Fprintf(&out, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", paper)
	var p pen // goes on from line to line, as tmux writes it
	for y, line := range bytes.Split(bytes.TrimRight(screen, "\n"), []byte("\n")) {
		p.line(&out, string(line), 8, 8+float64(y)*cellH)
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func (p *pen) line(out *bytes.Buffer, line string, x0, y float64) {
	col := 0
	run, runAt := "", 0
	flush := func() {
		if s := strings.TrimRight(run, " "); s != "" {
			style := ""
			if p.bold {
				style = ` font-weight="bold"`
			}
			if p.dim {
				style += ` opacity="0.6"`
			}
			n := utf8.RuneCountInString(s)
			fmt.Fprintf(out, `<text x="%.1f" y="%.1f" fill="%s" textLength="%.1f" xml:space="preserve"%s>%s</text>`+"\n",
				x0+float64(runAt)*cellW, y+12.5, p.ink(), float64(n)*cellW, style, html.EscapeString(s))
		}
		run = ""
	}
	for len(line) > 0 {
		if seq, rest, ok := sgr(line); ok {
			flush()
			p.apply(seq)
			line = rest
			continue
		}
		c, n := utf8.DecodeRuneInString(line)
		line = line[n:]
		x := x0 + float64(col)*cellW
		if p.reverse {
			flush()
			fmt.Fprintf(out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, cellW, cellH, p.paper())
		}
		if shape(out, c, x, y, p.ink()) {
			flush()
		} else {
			if run == "" {
				runAt = col
			}
			// A double blank ends a run, so that nothing drifts where the font is another.
			if run += string(c); strings.HasSuffix(run, "  ") {
				flush()
			}
		}
		col++
	}
	flush()
}

func (p pen) ink() string {
	if p.reverse {
		return paper
	}
	if p.fore == "" {
		return text
	}
	return p.fore
}

func (p pen) paper() string {
	if p.fore == "" {
		return text
	}
	return p.fore
}

// shape draws what is no letter.
func shape(out *bytes.Buffer, c rune, x, y float64, ink string) bool {
	rect := func(x, y, w, h float64) {
		fmt.Fprintf(out, `<rect x="%.1f" y="%.1f" width="%.2f" height="%.2f" fill="%s"/>`+"\n", x, y, w, h, ink)
	}
	switch {
	case c == '█':
		rect(x, y, cellW+0.1, cellH+0.1)
	case c == '▀':
		rect(x, y, cellW+0.1, cellH/2)
	case c == '▄':
		rect(x, y+cellH/2, cellW+0.1, cellH/2+0.1)
	case c == '─':
		rect(x, y+cellH/2, cellW+0.1, 1)
	case c == '│':
		rect(x+cellW/2, y, 1, cellH+0.1)
	case c == '┊':
		for i := range 3 {
			rect(x+cellW/2, y+1+float64(i)*cellH/3, 1, 3)
		}
	case c > 0x2800 && c <= 0x28ff:
		for i, bit := range [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
			if (c-0x2800)>>i&1 == 1 {
				fmt.Fprintf(out, `<circle cx="%.1f" cy="%.1f" r="1.3" fill="%s"/>`+"\n", x+cellW*(0.25+0.5*float64(bit[0])), y+cellH*(0.125+0.25*float64(bit[1])), ink)
			}
		}
	default:
		return false
	}
	return true
}

// sgr cuts a colour sequence off a line.
func sgr(line string) (seq, rest string, ok bool) {
	if !strings.HasPrefix(line, "\x1b[") {
		return "", line, false
	}
	return strings.Cut(line[2:], "m")
}

func (p *pen) apply(seq string) {
	n := strings.Split(seq, ";")
	for i := 0; i < len(n); i++ {
		v, _ := strconv.Atoi(n[i])
		switch {
		case v == 0:
			*p = pen{}
		case v == 1:
			p.bold = true
		case v == 2:
			p.dim = true
		case v == 7:
			p.reverse = true
		case v == 22:
			p.bold, p.dim = false, false
		case v == 27:
			p.reverse = false
		case v == 39:
			p.fore = ""
		case v == 38 && i+4 < len(n) && n[i+1] == "2":
			r, _ := strconv.Atoi(n[i+2])
			g, _ := strconv.Atoi(n[i+3])
			b, _ := strconv.Atoi(n[i+4])
			p.fore = fmt.Sprintf("#%02x%02x%02x", r, g, b)
			i += 4
		}
	}
}
