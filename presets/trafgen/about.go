package trafgen

import "fmt"

// About says in a few words what a file holds.
func (f *File) About() string {
	n, only := len(f.packets), 0
	for i := range f.packets {
		if f.packets[i].cpus != nil {
			only++
		}
	}
	what := "1 packet"
	if n > 1 {
		what = fmt.Sprintf("%d packets, in turn", n)
	}
	if only > 0 {
		what += fmt.Sprintf("; %d of them for some CPUs only: worker N stands for CPU N", only)
	}
	return what
}
