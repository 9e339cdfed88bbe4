package knob

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Verb is what a line of the command language does.
type Verb string

// The verbs. DoNothing is a blank line or a comment.
const (
	DoNothing Verb = ""
	DoSet     Verb = "set" // not a word: a line that begins with a knob's name
	DoMark    Verb = "mark"
	DoWait    Verb = "wait"
	DoStart   Verb = "start"
	DoStop    Verb = "stop"
	DoReset   Verb = "reset"
	DoPreset  Verb = "preset"
	DoSave    Verb = "save"
	DoNIC     Verb = "nic"
	DoSweep   Verb = "sweep"
	DoKick    Verb = "kick"
	DoDiff    Verb = "diff"
	DoCheck   Verb = "check"
	DoHelp    Verb = "help"
	DoQuit    Verb = "quit"
)

// Command is one line of the command language, understood.
type Command struct {
	Verb    Verb
	Knob    string        // of DoSet, and of DoHelp where one was asked for (it may name a command there)
	Value   string        // of DoSet
	Name    string        // of DoMark ("" takes the next letter), DoPreset, DoSave and DoNIC; of DoDiff, "" for the last two marks
	Other   string        // of DoDiff
	Replace bool          // of DoSave: put it in the place of an older preset of that name
	Wait    time.Duration // of DoWait and DoKick
	Sweep   Sweep         // of DoSweep
	Line    string        // as it was written, comment and outer blanks left out
}

// Usage is one command as help and the README print it.
type Usage struct {
	Verb Verb
	Form string // "mark [NAME]"
	Help string // one line
}

// Usages returns the commands in the order of the README.
func Usages() []Usage {
	return []Usage{
		{DoSet, "KNOB VALUE", "turn a knob: rate 1.2Mpps, size 105, path qdisc"},
		{DoStart, "start", "send"},
		{DoStop, "stop", "stop sending"},
		{DoMark, "mark [NAME]", "keep the present epoch by name; two marks give their difference in ns per packet"},
		{DoDiff, "diff [A B]", "the difference of two marks or epochs in ns per packet, whether it is real, and which knobs differ"},
		{DoSweep, "sweep KNOB FROM..TO [step S] [dwell TIME] [down or updown] [bisect]", "turn a knob through its values, and name where pps changes; sweep stop ends it"},
		{DoKick, "kick [TIME]", "load from another CPU into the same queue for a moment: does the rate stay as it was?"},
		{DoReset, "reset", "begin the statistics anew"},
		{DoWait, "wait TIME", "let time pass before the next line of a script: 5s, 500ms, 1m30s"},
		{DoPreset, "preset NAME", "turn the knobs of a preset and go through its steps"},
		{DoSave, "save NAME [replace]", "keep the present knobs as a preset of your own"},
		{DoNIC, "nic diff", "what is changed on the device: before and now"},
		{DoCheck, "check", "what keeps the device and the machine from wirespeed, and what mends it"},
		{DoHelp, "help [KNOB]", "what a knob or a command does"},
		{DoQuit, "quit", "stop, put everything back and end"},
	}
}

// elsewhere are words that an operator may well try, with what to do instead.
var elsewhere = map[string]string{
	"stream":   "a stream has a name: stream[a] size 594; weight 4",
	"dscp":     "dscp is a part of tos: tos is four times the DSCP, 184 for EF",
	"pcap":     "a capture is a file: file lab.pcapng",
	"imix":     "imix is a size: size imix",
	"duration": "the duration is an option: start with --duration 10s, or write wait 10s and quit in a script",
	"count":    "the count is an option: start with --count 1000000",
	"interval": "the interval is an option: start with --interval 1s",
	"rings":    "rings are rings.tx and rings.rx",
	"coalesce": "coalesce is coalesce.tx-usecs, coalesce.rx-usecs, coalesce.adaptive-rx and so on",
	"xps":      "xps is for a queue: xps[0] 0-1",
	"bql":      "bql is for a queue: bql.max[0] 30000",
	"priv":     "priv is for a flag of the driver: priv.NAME off",
	"feature":  "feature is for an offload: feature.tx-udp-segmentation off",
	"bypass":   "bypass is a value: path bypass",
	"exit":     "the word is quit",
}

const (
	maxName = 40             // runes of a mark's name
	maxWait = 24 * time.Hour // of one wait
)

// ParseLine understands one line. It knows words and their number; what a value means on a device is for Command.Check. Errors are one line
// and errors.Is(err, ErrUsage).
func ParseLine(line string) (Command, error) {
	line = strip(line)
	if bad := strings.IndexFunc(line, func(r rune) bool { return r == utf8.RuneError || r != '\t' && !unicode.IsPrint(r) }); bad >= 0 {
		return Command{}, usage("%q: a line is plain text", line)
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return Command{}, nil
	}
	word, args := words[0], words[1:]
	c := Command{Verb: Verb(word), Line: line}
	switch c.Verb {
	case DoStart, DoStop, DoReset, DoCheck, DoQuit:
		return c, only(c, args, 0)
	case DoMark:
		c.Name = strings.Join(args, " ")
		if utf8.RuneCountInString(c.Name) > maxName {
			return Command{}, usage("mark: a name has at most %d characters", maxName)
		}
		return c, nil
	case DoWait:
		return parseWait(c, args)
	case DoPreset:
		if len(args) == 0 {
			return Command{}, usage("preset needs a name: wirespeed presets lists them")
		}
		c.Name = strings.Join(args, " ") // a path may have blanks
		return c, nil
	case DoSave:
		return parseSave(c, args)
	case DoSweep:
		return parseSweep(c, args)
	case DoKick:
		return parseKick(c, args)
	case DoDiff:
		return parseDiff(c, args)
	case DoNIC:
		if len(args) != 1 || args[0] != "diff" {
			return Command{}, usage("nic needs a word: %s", form(DoNIC))
		}
		c.Name = args[0]
		return c, nil
	case DoHelp:
		if len(args) > 0 {
			c.Knob = args[0]
			if err := helpable(c.Knob); err != nil {
				return Command{}, err
			}
		}
		return c, only(c, args, 1)
	}
	return parseSet(c, word, args)
}

// strip takes away the comment and the outer blanks. A # within a word is no comment.
func strip(line string) string {
	line = strings.TrimSpace(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return strings.TrimSpace(line[:i])
		}
	}
	return line
}

// only refuses what is too much.
func only(c Command, args []string, n int) error {
	if len(args) <= n {
		return nil
	}
	return usage("%s: %q is too much: %s", c.Verb, strings.Join(args[n:], " "), form(c.Verb))
}

// form is how a verb is used.
func form(v Verb) string {
	for _, u := range Usages() {
		if u.Verb == v {
			return u.Form
		}
	}
	return string(v)
}

func parseWait(c Command, args []string) (Command, error) {
	text := strings.Join(args, "")
	d, err := time.ParseDuration(text)
	switch {
	case text == "":
		return Command{}, usage("wait needs a time: wait 5s")
	case err != nil && strings.Trim(text, "0123456789.") == "":
		return Command{}, usage("wait %s: the unit is missing: did you mean %ss?", text, text)
	case err != nil:
		return Command{}, usage("wait %q: not a time: use 5s, 500ms or 1m30s", text)
	case d <= 0 || d > maxWait:
		return Command{}, usage("wait %s: out of range: more than 0 and at most 24h", text)
	}
	c.Wait = d
	return c, nil
}

func parseSave(c Command, args []string) (Command, error) {
	if len(args) == 0 {
		return Command{}, usage("save needs a name: save mylab")
	}
	c.Name = args[0]
	if len(args) > 1 && args[1] == "replace" {
		c.Replace = true
		return c, only(c, args, 2)
	}
	return c, only(c, args, 1)
}

func parseSet(c Command, word string, args []string) (Command, error) {
	if name, value, ok := strings.Cut(word, "="); ok {
		if k, err := Find(name); err == nil {
			return Command{}, usage("%s: write it with a blank: %s %s", word, k.Name, value)
		}
	}
	k, err := Find(word)
	switch {
	case err != nil && elsewhere[word] != "":
		return Command{}, err
	case err != nil:
		hint := didYouMean(word, vocabulary())
		if hint == "" {
			hint = ": help lists the commands"
		}
		return Command{}, usage("no knob and no command %q%s", word, hint)
	case len(args) == 0:
		return Command{}, usage("%s needs a value: %s", k.Name, strings.ReplaceAll(k.Values, "`", ""))
	}
	c.Verb, c.Knob, c.Value = DoSet, k.Name, strings.Join(args, " ")
	return c, nil
}

// vocabulary are all first words: the knobs, then the commands.
func vocabulary() []string {
	words := names()
	for _, u := range Usages() {
		if u.Verb != DoSet {
			words = append(words, string(u.Verb))
		}
	}
	return words
}

// helpable says why there is no help on a word, nil if there is.
func helpable(word string) error {
	_, err := Help(word)
	return err
}
