package knob

import (
	"slices"
	"strings"
)

// Help says in one line what a knob or a command does.
func Help(word string) (string, error) {
	for _, u := range Usages() {
		if u.Verb != DoSet && string(u.Verb) == word {
			return u.Form + ": " + u.Help, nil
		}
	}
	if k, err := Find(word); err == nil {
		return k.Name + ": " + k.Help + " (" + strings.ReplaceAll(k.Values, "`", "") + ")", nil
	}
	if hint, ok := elsewhere[word]; ok {
		return hint, nil
	}
	return "", usage("no help on %q%s", word, didYouMean(word, vocabulary()))
}

// Complete returns the lines that prefix can become at the ":" prompt by one more word, in the order of the panel. Names of presets are not
// among them: package presets knows those.
func Complete(prefix string) []string {
	word, rest, more := strings.Cut(prefix, " ")
	if !more {
		var lines []string
		for _, w := range vocabulary() {
			if strings.HasPrefix(w, word) {
				lines = append(lines, w)
			}
		}
		return lines
	}
	rest = strings.TrimLeft(rest, " ")
	var words []string
	if Verb(word) == DoHelp {
		words = vocabulary()
	} else if Verb(word) == DoNIC {
		words = []string{"diff"}
	} else if i := slices.IndexFunc(All(), func(k Knob) bool { return k.Name == word }); i >= 0 {
		words = All()[i].words
	}
	var lines []string
	for _, w := range words {
		if strings.HasPrefix(w, rest) {
			lines = append(lines, word+" "+w)
		}
	}
	return lines
}
