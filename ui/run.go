package ui

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
)

// Options are what the command line decides about the console.
type Options struct {
	Rate      float64 // looks a second; 0 is 4
	NoSuspend string  // why ctrl+z cannot suspend (no shell to come back to), "" if it can
}

const (
	defaultRate = 4
	fastestRate = 20
	framesASec  = 20 // of bubbletea's renderer: a key shows within 50 ms
)

func (o Options) every() time.Duration {
	rate := o.Rate
	if rate <= 0 {
		rate = defaultRate
	}
	return time.Duration(float64(time.Second) / min(rate, fastestRate))
}

// serve runs the console on the terminal until the operator quits or ctx ends. It returns with the terminal restored and
// none of its goroutines left.
func serve(ctx context.Context, run runner, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, run, newTheme(lipgloss.DefaultRenderer(), colorful(os.Getenv), glyphsFor(os.Getenv)), o.every())
	m.noSuspend = o.NoSuspend
	p := tea.NewProgram(m, tea.WithAltScreen(), tea.WithFPS(framesASec), tea.WithoutSignalHandler())

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		p.Quit()
	}()
	_, err := p.Run()
	cancel()
	<-stopped
	m.work.end()
	if errors.Is(err, tea.ErrInterrupted) {
		err = nil
	}
	return err
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

// colorful says whether colours are wanted (no-color.org) and there.
func colorful(env func(string) string) bool {
	return env("NO_COLOR") == "" && env("TERM") != "dumb"
}

// glyphsFor chooses the signs: what is not certainly without UTF-8 has it, but for terminals known to lack the signs.
func glyphsFor(env func(string) string) glyphs {
	switch env("TERM") {
	case "dumb", "linux", "vt100", "vt102", "vt220", "ansi":
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
