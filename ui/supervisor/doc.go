// Package supervisor is the small process in front of the one that works: it keeps the terminal as it was, starts the worker and, however
// the worker ends, leaves a usable terminal, no process and the right exit code behind.
//
// Both processes share one terminal. The worker has a process group of its own. Where it reads keys (the console) its group is the
// foreground group, as a shell does with a job, so ctrl+c and ctrl+z are the worker's; a headless worker leaves the foreground to the
// supervisor and to the pipeline it stands in (`| less` must be able to read keys), and gets the signals passed on.
//
//	shell ── supervisor (Run) ── worker (Worker)
//	           keeps: termios, foreground, exit code     does: everything else
//
// Signals at the supervisor: INT, TERM and HUP are passed on, TSTP too; QUIT and PIPE are ignored. When the worker is stopped by the
// terminal, the supervisor gives the terminal back and stops as well, and on CONT it hands the terminal over again. When the
// supervisor dies, SIGKILL included, the kernel kills the worker.
//
// The package knows nothing of what the worker does and imports nothing of ours. Run works on the goroutine (and thread) that calls it
// and owns the terminal settings; two more goroutines only carry what the kernel reports (signals, the worker's state) to it, one
// collects the worker's stderr. Worker starts one goroutine, whose thread must live as long as the process.
package supervisor
