package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

// element is an element of a picture as an independent reader sees it.
type element struct {
	name string
	attr map[string]string
	text string
}

// read parses a picture and fails where it is not well-formed.
func read(t testing.TB, picture []byte) (list []element) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(picture))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, picture)
		}
		switch e := token.(type) {
		case xml.StartElement:
			attr := map[string]string{}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
			}
			list = append(list, element{name: e.Name.Local, attr: attr})
		case xml.CharData:
			if len(list) > 0 {
				list[len(list)-1].text += strings.TrimSpace(string(e))
			}
		}
	}
}

func draw(t testing.TB, c Chart) []element {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, c); err != nil {
		t.Fatal(err)
	}
	return read(t, b.Bytes())
}

func at(t testing.TB, e element, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attr[name], 64)
	if err != nil {
		t.Fatalf("%s of %v: %v", name, e, err)
	}
	return v
}

func TestPointsStandWhereTheyBelong(t *testing.T) {
	c := Chart{
		Title: "size", X: "size, B",
		Panels: []Panel{{Y: "ns/packet", Series: []Series{{Name: "up", Points: []Point{{X: 60, Y: 700}, {X: 80, Y: 720, Err: 3}, {X: 100, Y: math.NaN()}, {X: 128, Y: 650}}}}}},
		Marks:  []Mark{{X: 104, Text: "pps rises by 8.1 % & <more>"}},
		Notes:  []string{"one", "two"},
	}
	var circles []element
	words := map[string]bool{}
	for _, e := range draw(t, c) {
		if e.name == "circle" {
			circles = append(circles, e)
		}
		words[e.text] = true
	}
	if len(circles) != 3 {
		t.Fatalf("%d points, want 3: one is no number", len(circles))
	}
	// Places go with values: 80 is 20/68 of the way from 60 to 128, and more is higher up.
	x0, x1, x2 := at(t, circles[0], "cx"), at(t, circles[1], "cx"), at(t, circles[2], "cx")
	if got, want := (x1-x0)/(x2-x0), 20.0/68; math.Abs(got-want) > 0.001 {
		t.Errorf("80 stands at %v of the way, want %v", got, want)
	}
	y0, y1, y2 := at(t, circles[0], "cy"), at(t, circles[1], "cy"), at(t, circles[2], "cy")
	if got, want := (y0-y1)/(y2-y1), 20.0/70; math.Abs(got-want) > 0.001 {
		t.Errorf("700 stands at %v of the way from 720 to 650, want %v", got, want)
	}
	for _, w := range []string{"size", "size, B", "ns/packet", "up", "pps rises by 8.1 % & <more>", "one", "two"} {
		if !words[w] {
			t.Errorf("%q is not in the picture", w)
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	for _, c := range []Chart{
		{},
		{Panels: []Panel{{}, {Series: []Series{{}}}}},
		{Panels: []Panel{{Series: []Series{{Points: []Point{{X: math.NaN(), Y: math.Inf(1)}}}}}}, Marks: []Mark{{X: math.Inf(-1)}}},
		{LogX: true, Panels: []Panel{{FromZero: true, Series: []Series{{Points: []Point{{X: 0, Y: 0}, {X: 1, Y: 0}}}}}}},
	} {
		for _, e := range draw(t, c) {
			for _, v := range e.attr {
				if strings.Contains(v, "NaN") || strings.Contains(v, "Inf") {
					t.Errorf("%+v: %v", c, e)
				}
			}
		}
	}
}

func TestAWriterThatFails(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	if err := SVG(w, Chart{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
}

func FuzzSVG(f *testing.F) {
	f.Add("title", "mark", 1.0, 2.0, 3.0, 4.0, true)
	f.Add("\x00<&\"", "\xff\u200b", 0.0, math.Inf(1), math.NaN(), -1e300, false)
	f.Add("", "", 5e-324, 1e29, 1.0, 1.0, true)
	f.Fuzz(func(t *testing.T, title, mark string, x0, x1, y0, y1 float64, log bool) {
		c := Chart{
			Title: title, X: mark, LogX: log && x0 > 0 && x1 > 0, Marks: []Mark{{x0, mark}}, Notes: []string{title},
			Panels: []Panel{{Y: title, FromZero: log, Series: []Series{{mark, []Point{{x0, y0, y1}, {x1, y1, 0}}, false}}, Levels: []Level{{mark, y1}}}},
		}
		for _, e := range draw(t, c) {
			for k, v := range e.attr {
				if k != "d" && (v == "NaN" || strings.HasSuffix(v, "Inf")) || k == "d" && (strings.Contains(v, "NaN") || strings.Contains(v, "Inf")) {
					t.Errorf("%v", e)
				}
			}
		}
	})
}
