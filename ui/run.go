package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"wirespeed/engine"
	"wirespeed/ui/control"
)

// Options are what the command line decides about the console.
type Options struct {
	Rate      float64 // looks a second; 0 is 4
	NoSuspend string  // why ctrl+z cannot suspend (no shell to come back to), "" if it can
}

const (
	defaultRate = 4
	fastestRate = 20
	framesASec  = 10 // of bubbletea's renderer, at the least: each costs, also where nothing has changed
)

func (o Options) rate() float64 {
	if o.Rate <= 0 {
		return defaultRate
	}
	return min(o.Rate, fastestRate)
}

func (o Options) every() time.Duration { return time.Duration(float64(time.Second) / o.rate()) }

// frames is how often the renderer may write: often enough that a look does not wait long.
func (o Options) frames() int { return max(framesASec, int(1.5*o.rate())) }

// Run shows a run on the terminal until the operator quits or ctx ends; it does not start it. Then it stops the run and
// prints its result and marks on the normal screen. It returns with the terminal restored and none of its goroutines
// left. The error is the console's, or why the run failed. Stdin and stdout must be terminals.
func Run(ctx context.Context, run *control.Run, o Options) error {
	err := serve(ctx, run, o)
	stopped := run.Stop()
	s := run.Result()
	printResult(os.Stdout, s)
	return errors.Join(err, stopped, s.Err)
}

// serve is the console without what comes after it.
func serve(ctx context.Context, run runner, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, run, themeFor(os.Getenv), o.every())
	m.noSuspend = o.NoSuspend

	var p *tea.Program
	if os.Getenv("TERM") == dumbTerm {
		line, err := newOneLine(m, os.Stdin, os.Stdout)
		if err != nil {
			return err
		}
		defer line.restore()
		p = tea.NewProgram(line, tea.WithoutRenderer(), tea.WithoutSignalHandler())
	} else {
		p = tea.NewProgram(m, tea.WithAltScreen(), tea.WithFPS(o.frames()), tea.WithoutSignalHandler())
	}
	stopped := make(chan struct{})
	engine.Spawn(func() {
		defer close(stopped)
		<-ctx.Done()
		p.Quit()
	})
	_, err := p.Run()
	cancel()
	<-stopped
	m.work.end()
	return err
}

// printResult prints the end of a run in the classic form, and the marks with their difference.
func printResult(w io.Writer, s control.Summary) {
	if s.Result == "" {
		return
	}
	// A terminal that has gone takes nothing: there is nobody to tell.
	fmt.Fprintln(w, s.Result)
	for _, line := range s.Kept() {
		fmt.Fprintln(w, "  "+clean(line))
	}
}

// work counts what runs outside the loop, so that the end of the console can wait for it and lets nothing begin after it.
type work struct {
	mu    sync.Mutex
	ended bool
	under sync.WaitGroup
}

// do makes a command of bubbletea.
func (w *work) do(f func() tea.Msg) tea.Cmd {
	return func() tea.Msg {
		w.mu.Lock()
		if w.ended {
			w.mu.Unlock()
			return nil
		}
		w.under.Add(1)
		w.mu.Unlock()
		defer w.under.Done()
		return f()
	}
}

func (w *work) end() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.under.Wait()
}

// themeFor chooses colours and signs for the terminal.
func themeFor(env func(string) string) *Theme {
	r := lipgloss.NewRenderer(os.Stdout)
	r.SetHasDarkBackground(lipgloss.HasDarkBackground()) // asked for when the program began: now the answer would be taken for keys
	switch {
	case env("TERM") == dumbTerm:
		r.SetColorProfile(termenv.Ascii)
	case !colorful(env):
		r.SetColorProfile(termenv.ANSI) // for bold, faint and reverse
	}
	return newTheme(r, colorful(env), glyphsFor(env))
}

// colorful says whether colours are wanted (no-color.org) and there.
func colorful(env func(string) string) bool {
	return env("NO_COLOR") == "" && env("TERM") != dumbTerm
}

// glyphsFor chooses the signs: what is not certainly without UTF-8 has it, but for terminals known to lack the signs.
func glyphsFor(env func(string) string) glyphs {
	switch env("TERM") {
	case dumbTerm, "linux", "vt100", "vt102", "vt220", "ansi":
		return asciiGlyphs
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			if strings.Contains(v, "utf-8") || strings.Contains(v, "utf8") {
				return unicodeGlyphs
			}
			return asciiGlyphs
		}
	}
	return unicodeGlyphs
}
