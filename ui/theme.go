package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/lipgloss"
)

// ink is a style as the escape sequences around a text, so that drawing a cell costs two copies and no lookup.
type ink struct{ on, off string }

// glyphs are the signs that depend on what the terminal's character set holds.
type glyphs struct {
	Rule, Bar, Mark, Pick, More, Cut, PlusMinus, Dot, To, Line, Block string
	Braille                                                           bool
	States                                                            [6]string // by engine.State
}

var unicodeGlyphs = glyphs{
	Rule: "─", Bar: "│", Mark: "▲", Pick: "▸", More: "↓", Cut: "…", PlusMinus: "±", Dot: "·", To: "→", Line: "┊", Block: "▪",
	Braille: true,
	States:  [6]string{"○", "●", "✕", "◐", "✖", "■"},
}

var asciiGlyphs = glyphs{
	Rule: "-", Bar: "|", Mark: "^", Pick: ">", More: "v", Cut: "~", PlusMinus: "+-", Dot: "-", To: "->", Line: ":", Block: "#",
	States: [6]string{"o", "*", "!", "~", "x", "="},
}

// arrows are the names of keys where the terminal has no arrows.
var arrows = strings.NewReplacer("↑", "up", "↓", "down", "←→", "left/right", "←", "left", "→", "right")

// key is how a key is written on the screen.
func (g glyphs) key(b key.Binding) string { return g.text(b.Help().Key) }

// text is a text that may hold arrows.
func (g glyphs) text(s string) string {
	if g.Braille {
		return s
	}
	return arrows.Replace(s)
}

// Theme is every colour and sign of the console. A colour never stands alone: a word or a sign says the same.
type Theme struct {
	Text, Strong, Dim, Rule, Title ink
	TX, RX, Mean                   ink // sending, receiving, mean of an epoch
	Good, Warn, Bad                ink
	Key, Pick, Cursor, Badge       ink
	Glyphs                         glyphs
}

// Palette, for dark and light backgrounds; lipgloss reduces it to what the terminal has.
var (
	colorTX    = lipgloss.CompleteAdaptiveColor{Dark: shade("#5fd7d7", "80", "14"), Light: shade("#00717a", "30", "6")}
	colorRX    = lipgloss.CompleteAdaptiveColor{Dark: shade("#87afff", "111", "12"), Light: shade("#2a52be", "26", "4")}
	colorMean  = lipgloss.CompleteAdaptiveColor{Dark: shade("#ffb454", "215", "11"), Light: shade("#9a5b00", "130", "3")}
	colorGood  = lipgloss.CompleteAdaptiveColor{Dark: shade("#87d787", "114", "10"), Light: shade("#1f7a1f", "28", "2")}
	colorWarn  = lipgloss.CompleteAdaptiveColor{Dark: shade("#ffd75f", "221", "11"), Light: shade("#8a6500", "94", "3")}
	colorBad   = lipgloss.CompleteAdaptiveColor{Dark: shade("#ff6b6b", "203", "9"), Light: shade("#b00020", "124", "1")}
	colorDim   = lipgloss.CompleteAdaptiveColor{Dark: shade("#8a8f98", "245", "7"), Light: shade("#5f6368", "241", "8")}
	colorRule  = lipgloss.CompleteAdaptiveColor{Dark: shade("#4a505a", "239", "8"), Light: shade("#b8bcc4", "250", "7")}
	colorTitle = lipgloss.CompleteAdaptiveColor{Dark: shade("#c8ccd4", "252", "15"), Light: shade("#30343a", "236", "0")}
)

func shade(full, c256, c16 string) lipgloss.CompleteColor {
	return lipgloss.CompleteColor{TrueColor: full, ANSI256: c256, ANSI: c16}
}

// newTheme makes the inks for a terminal. Without colour the meaning stays in bold, faint and reverse.
func newTheme(r *lipgloss.Renderer, color bool, g glyphs) *Theme {
	style := func(c lipgloss.TerminalColor) lipgloss.Style {
		s := r.NewStyle()
		if color && c != nil {
			s = s.Foreground(c)
		}
		return s
	}
	faint := func(c lipgloss.TerminalColor) lipgloss.Style {
		if color {
			return style(c)
		}
		return r.NewStyle().Faint(true)
	}
	return &Theme{
		Text:   ink{},
		Strong: inkOf(r.NewStyle().Bold(true)),
		Dim:    inkOf(faint(colorDim)),
		Rule:   inkOf(faint(colorRule)),
		Title:  inkOf(style(colorTitle)),
		TX:     inkOf(style(colorTX).Bold(true)),
		RX:     inkOf(style(colorRX)),
		Mean:   inkOf(style(colorMean).Bold(!color)),
		Good:   inkOf(style(colorGood)),
		Warn:   inkOf(style(colorWarn).Bold(true)),
		Bad:    inkOf(style(colorBad).Bold(true)),
		Key:    inkOf(style(colorTitle).Bold(true)),
		Pick:   inkOf(style(colorTX).Bold(true).Reverse(!color)),
		Cursor: inkOf(r.NewStyle().Reverse(true)),
		Badge:  inkOf(style(colorMean).Bold(true).Reverse(true)),
		Glyphs: g,
	}
}

// inkOf takes a style apart into what stands before and after a text.
func inkOf(s lipgloss.Style) ink {
	const probe = "x"
	on, off, _ := strings.Cut(s.Render(probe), probe)
	return ink{on, off}
}
