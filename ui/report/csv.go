package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"wirespeed/ui/control"
)

// csvWriter prints a header and one row per sample. The columns are those of the JSON sample: one declaration for both.
type csvWriter struct {
	out, log io.Writer
	knobs    []string // columns, as of the first sample; nil before it
}

func (w *csvWriter) sample(v *control.View) error {
	s := newSample(v)
	var text strings.Builder
	rows := csv.NewWriter(&text)
	if w.knobs == nil {
		w.knobs = []string{}
		for _, k := range v.Knobs {
			w.knobs = append(w.knobs, k.Name)
		}
		rows.Write(w.columns(reflect.TypeOf(s), "")) // to memory: no error
	}
	rows.Write(w.cells(reflect.ValueOf(s), nil))
	rows.Flush()
	_, err := io.WriteString(w.out, text.String())
	return err
}

func (w *csvWriter) event(e control.Event) error {
	logEvent(w.log, e)
	return nil
}

func (w *csvWriter) summary(s control.Summary, _ time.Time) error {
	if w.log != nil {
		fmt.Fprintln(w.log, s.Result) // no row: the stream is a table of samples
	}
	return nil
}

// columns names the scalars of a struct by their path. Lists have none; the map of knobs has one per knob, in the panel's order.
func (w *csvWriter) columns(t reflect.Type, prefix string) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := prefix + f.Tag.Get("json")
		switch ft := deref(f.Type); ft.Kind() {
		case reflect.Struct:
			names = append(names, w.columns(ft, name+".")...)
		case reflect.Slice:
		case reflect.Map:
			for _, k := range w.knobs {
				names = append(names, name+"."+k)
			}
		default:
			names = append(names, name)
		}
	}
	return names
}

// cells prints the same scalars. What is not known is empty.
func (w *csvWriter) cells(v reflect.Value, row []string) []string {
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() == reflect.Pointer {
			if f.IsNil() {
				row = append(row, make([]string, w.width(f.Type().Elem()))...)
				continue
			}
			f = f.Elem()
		}
		switch f.Kind() {
		case reflect.Struct:
			row = w.cells(f, row)
		case reflect.Slice:
		case reflect.Map:
			for _, k := range w.knobs {
				cell := ""
				if value := f.MapIndex(reflect.ValueOf(k)); value.IsValid() && !value.IsNil() {
					cell = value.Elem().String()
				}
				row = append(row, cell)
			}
		case reflect.Float64:
			row = append(row, strconv.FormatFloat(f.Float(), 'f', -1, 64))
		default:
			row = append(row, fmt.Sprint(f.Interface()))
		}
	}
	return row
}

// width is the number of columns of an unknown value.
func (w *csvWriter) width(t reflect.Type) int {
	if t.Kind() == reflect.Struct {
		return len(w.columns(t, ""))
	}
	return 1
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
