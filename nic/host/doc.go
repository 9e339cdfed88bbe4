// Package host reads what the machine, not the interface, adds to a measurement: which CPUs the process may use, how much of them it and
// its threads have used and what else ran there, and how kernel and CPUs are set up.
//
// It changes nothing and keeps nothing: every function is one read of the kernel's present figures; those that count are cumulative since the
// thread, process or machine started, so callers take differences. All functions may be called from any goroutine.
//
// What is read from files of /proc, /sys and /boot is read below a [Root], which in tests is a tree of files. A file that is missing and one
// that may not be read are errors that errors.Is tells apart (fs.ErrNotExist, fs.ErrPermission); what the figures mean is for package
// nic/check to say.
package host
