package ui

import (
	"io"
	"os"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"
)

const dumbTerm = "dumb"

// oneLine is the console on a terminal that can do no more than return to the start of a line: its smallest layout,
// written over itself. All keys work.
type oneLine struct {
	*model
	out     io.Writer
	restore func()

	mu       sync.Mutex // guards the next two: lines are written outside the loop
	written  int
	numbered int
	width    int
}

func newOneLine(m *model, in, out *os.File) (*oneLine, error) {
	old, err := term.MakeRaw(in.Fd())
	if err != nil {
		return nil, err
	}
	w, _, err := term.GetSize(out.Fd())
	if err != nil || w < 2 {
		w = 80
	}
	m.width, m.height = w-1, 1 // the last column would wrap
	m.noSuspend = "ctrl+z: not on this terminal"
	return &oneLine{model: m, out: out, width: w - 1, restore: func() {
		_, _ = io.WriteString(out, "\r\n")
		_ = term.Restore(in.Fd(), old)
	}}, nil
}

// Update is the model's; where the line has changed it is written.
func (o *oneLine) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tea.WindowSizeMsg); ok {
		return o, nil
	}
	before := o.model.screen
	_, cmd := o.model.Update(msg)
	line := o.model.View()
	if line == before {
		return o, cmd
	}
	o.numbered++
	n := o.numbered
	write := o.work.do(func() tea.Msg {
		o.mu.Lock()
		defer o.mu.Unlock()
		if n > o.written { // an older line comes too late
			o.written = n
			_, _ = io.WriteString(o.out, "\r"+newRow(o.width).put(ink{}, line).full())
		}
		return nil
	})
	return o, tea.Batch(cmd, write)
}

// View draws nothing: the line is written by itself.
func (o *oneLine) View() string { return "" }
