// Package presets keeps experiments as files: the knobs of a stream, a text that says what to look at, and steps that go by themselves.
//
// A preset is a TOML file with four keys, all but knobs optional: title, text, a table knobs (a value for each knob, in the words of the
// command line) and steps (lines of the command language, "wait 5s" between them). Its name is the file's. Some are embedded (folder
// builtin); the user's own lie in $XDG_CONFIG_HOME/wirespeed/presets, else ~/.config/wirespeed/presets. A file is read strictly: an unknown
// key is an error with line and column.
//
// What it does not do: it turns no knob. Whether a value fits a device is for knob.SetAll and knob.Rehearse.
//
// Threading: functions only, no state; each call reads the files anew. They block on the file system.
package presets
