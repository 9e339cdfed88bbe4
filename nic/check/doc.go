// Package check holds a machine and a network interface against what sending at wirespeed needs, and says what to mend.
//
// It goes in two steps. [Look] reads facts: each is a value or the reason why it could not be read. [Judge] is a pure function of the facts:
// one [Finding] for each check of one table, in a fixed order. What could not be read is unknown, never good. A check is declared once, with
// its reason and how sure that is, and everything that shows findings (text, JSON, console) has it from there.
//
// The package changes nothing. A finding that can be mended without a program's or an operator's decision carries [Change]s, in the words
// of nic's settings; [Mend] hands them to whoever guards the device.
//
// A look takes half a second, most of it waiting to see what else runs. All functions may be called from any goroutine, and start none.
package check
