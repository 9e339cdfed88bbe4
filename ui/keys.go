package ui

import "github.com/charmbracelet/bubbles/key"

// KeyMap is every key of the console. No other file names one.
type KeyMap struct {
	// On the main screen.
	StartStop, Up, Down, Less, More, LessCoarse, MoreCoarse, Edit, Filter, Command                  key.Binding
	Path, Mark, Reset, Pause, Presets, Packet, Counters, Arrivals, Check, Freeze, Chart, Help, Quit key.Binding

	Instruments key.Binding

	Kick, Sweep, Epochs, Stop key.Binding

	// In a list or a text over the screen.
	Close, Apply, Save, PageUp, PageDown, Top, Bottom key.Binding

	// While a line is typed.
	Accept, Cancel, Complete, Earlier, Later               key.Binding
	Left, Right, LineStart, LineEnd                        key.Binding
	Backspace, Delete, DeleteWord, DeleteBefore, DeleteEnd key.Binding

	// Everywhere.
	Abort, Suspend key.Binding
}

func binding(shown, help string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, help))
}

// newKeyMap returns the keys of the console.
func newKeyMap() KeyMap {
	return KeyMap{
		StartStop:  binding("space", "start or stop sending", " "),
		Up:         binding("↑", "choose the knob above", "up"),
		Down:       binding("↓", "choose the knob below", "down"),
		Less:       binding("←", "turn the knob down", "left", "h"),
		More:       binding("→", "turn the knob up", "right", "l"),
		LessCoarse: binding("<", "turn down in big steps (also shift+←)", "<", "shift+left"),
		MoreCoarse: binding(">", "turn up in big steps (also shift+→)", ">", "shift+right"),
		Edit:       binding("enter", "type a value for the knob", "enter"),
		Filter:     binding("/", "filter the knobs", "/"),
		Command:    binding(":", "type a command", ":"),
		Path:       binding("b", "switch the path: bypass or qdisc", "b"),
		Mark:       binding("m", "mark: keep this epoch, compare with the last", "m"),
		Reset:      binding("r", "reset the statistics", "r"),
		Pause:      binding("f", "flow control: shows the next setting, enter applies it", "f"),
		Arrivals:   binding("a", "arrivals: loss, order, faults, latency", "a"),
		Counters:   binding("i", "counters that move, per second", "i"),
		Check:      binding("n", "NIC check: what costs speed, what mends it", "n"),
		Packet:     binding("v", "view the next frame: headers, bytes, sizes", "v"),
		Presets:    binding("p", "presets", "p"),
		Freeze:     binding("z", "freeze the screen; measuring goes on", "z"),
		Chart:      binding("c", "chart: both, only ns/packet, only pps", "c"),
		Help:       binding("?", "help: all keys and knobs", "?"),
		Quit:       binding("q", "quit: stop, restore all, print the result", "q"),

		Instruments: binding("tab", "instruments: which regime rules, and where frames wait", "tab"),

		Kick:   binding("k", "kick: load the queue from another CPU for half a second", "k"),
		Sweep:  binding("w", "sweep: the plot and what was found", "w"),
		Epochs: binding("e", "epochs: compare any two", "e"),
		Stop:   binding("x", "end the sweep", "x"),

		Close:    binding("esc", "close (also q)", "esc", "q"),
		Apply:    binding("enter", "apply", "enter"),
		Save:     binding("s", "save the settings as a preset", "s"),
		PageUp:   binding("pgup", "a page up", "pgup"),
		PageDown: binding("pgdn", "a page down", "pgdown", " "),
		Top:      binding("home", "to the top", "home", "g"),
		Bottom:   binding("end", "to the end", "end", "G"),

		Accept:       binding("enter", "carry it out", "enter"),
		Cancel:       binding("esc", "leave everything as it is", "esc"),
		Complete:     binding("tab", "complete the word", "tab"),
		Earlier:      binding("↑", "an earlier line", "up", "ctrl+p"),
		Later:        binding("↓", "a later line", "down", "ctrl+n"),
		Left:         binding("←", "a character left", "left", "ctrl+b"),
		Right:        binding("→", "a character right", "right", "ctrl+f"),
		LineStart:    binding("home", "to the start (also ctrl+a)", "home", "ctrl+a"),
		LineEnd:      binding("end", "to the end (also ctrl+e)", "end", "ctrl+e"),
		Backspace:    binding("backspace", "delete the character before", "backspace", "ctrl+h"),
		Delete:       binding("del", "delete the character here", "delete", "ctrl+d"),
		DeleteWord:   binding("ctrl+w", "delete the word before", "ctrl+w", "alt+backspace"),
		DeleteBefore: binding("ctrl+u", "delete all before", "ctrl+u"),
		DeleteEnd:    binding("ctrl+k", "delete all after", "ctrl+k"),

		Abort:   binding("ctrl+c", "quit, from anywhere", "ctrl+c"),
		Suspend: binding("ctrl+z", "suspend; `fg` comes back", "ctrl+z"),
	}
}

// scope is a place where keys hold.
type scope struct {
	name string
	keys []key.Binding
}

// scopes are all keys by the place where they hold, as the help and the README list them.
func (k KeyMap) scopes() []scope {
	return []scope{
		{"main screen", []key.Binding{
			k.StartStop, k.Up, k.Down, k.Less, k.More, k.LessCoarse, k.MoreCoarse, k.Edit, k.Filter, k.Command,
			k.Path, k.Mark, k.Reset, k.Pause, k.Presets, k.Packet, k.Instruments, k.Counters, k.Arrivals, k.Check, k.Freeze, k.Chart, k.Help, k.Quit,
			k.Kick, k.Sweep, k.Epochs, k.Stop,
		}},
		{"everywhere", []key.Binding{k.Abort, k.Suspend}},
		{"lists and help", []key.Binding{k.Close, k.Apply, k.Save, k.PageUp, k.PageDown, k.Top, k.Bottom}},
		{"while typing", []key.Binding{
			k.Accept, k.Cancel, k.Complete, k.Earlier, k.Later, k.Left, k.Right, k.LineStart, k.LineEnd,
			k.Backspace, k.Delete, k.DeleteWord, k.DeleteBefore, k.DeleteEnd,
		}},
	}
}

// hint is a key with one or two words for the last line of the screen.
type hint struct {
	key  key.Binding
	word string
}

// mainHints is the help line of the main screen, the most wanted first: what does not fit is left out from the end.
func (k KeyMap) mainHints(running bool) []hint {
	start := "start"
	if running {
		start = "stop"
	}
	return []hint{
		{k.StartStop, start},
		{key.NewBinding(key.WithHelp(k.Less.Help().Key+k.More.Help().Key, "")), "turn"},
		{k.Edit, "type"},
		{k.Command, "command"},
		{k.Mark, "mark"},
		{k.Help, "help"},
		{k.Quit, "quit"},
		{k.Path, "path"},
		{k.Presets, "presets"},
		{k.Packet, "view frame"},
		{k.Pause, "flow control"},
		{k.Instruments, "instruments"},
		{k.Counters, "counters"},
		{k.Arrivals, "arrivals"},
		{k.Check, "check"},
		{k.Reset, "reset"},
		{k.Freeze, "freeze"},
		{k.Chart, "chart"},
		{k.Kick, "kick"},
		{k.Sweep, "sweep"},
		{k.Epochs, "epochs"},
	}
}
