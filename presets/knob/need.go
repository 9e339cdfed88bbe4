package knob

import (
	"strconv"
	"strings"
)

// Need is something that an experiment cannot do without: the name of a knob that must be there to be turned; "speed", the link's; "receiver",
// a receiving device; "queues N" or "cpus N", at least so many.
type Need string

// Check says in one line why nobody could ever meet the need, nil if somebody can. errors.Is(err, ErrUsage).
func (n Need) Check() error {
	word, rest, counted := strings.Cut(string(n), " ")
	switch {
	case counted && (word == "queues" || word == "cpus"):
		_, err := number(word, rest, 1, 4096)
		return err
	case n == "speed" || n == "receiver":
		return nil
	}
	_, err := Find(string(n))
	return err
}

// Lacks says what the machine lacks, and how to mend it where it can be; "" nothing.
func (n Need) Lacks(b *Bench) string {
	word, rest, counted := strings.Cut(string(n), " ")
	least, _ := strconv.Atoi(rest)
	switch {
	case counted && word == "queues" && b.Device.Queues < least:
		return b.Device.Name + " has " + counting(b.Device.Queues, "transmit queue") + ", and " + rest + " are needed"
	case counted && word == "cpus" && len(b.Device.CPUs) < least:
		return "this process may use " + counting(len(b.Device.CPUs), "CPU") + ", and " + rest + " are needed (see taskset -p)"
	case n == "speed" && b.Device.Speed == 0:
		return "the speed of the link is needed, and " + b.Device.SpeedWhy + ": state it, as in --link 1Gbit"
	case n == "receiver" && b.RxMAC == nil:
		return "a receiving device is needed: name it with --rx"
	case counted || n == "speed" || n == "receiver":
		return ""
	}
	k, err := Find(string(n))
	if err != nil {
		return err.Error()
	}
	if why := k.Unavailable(b); why != "" {
		return k.Name + " is needed: " + why
	}
	return ""
}

// LacksAll is what the machine lacks of several needs, the first of them; "" nothing.
func LacksAll(b *Bench, needs []Need) string {
	for _, n := range needs {
		if why := n.Lacks(b); why != "" {
			return why
		}
	}
	return ""
}

func counting(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
