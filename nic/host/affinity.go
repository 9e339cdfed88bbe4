package host

import (
	"errors"
	"io/fs"
	"strconv"
)

// Affinity returns the CPUs that an interrupt may run on, and those that the kernel has really chosen of them (nil where it does not say).
func (r Root) Affinity(irq int) (allowed, effective []int, err error) {
	dir := "proc/irq/" + strconv.Itoa(irq)
	if allowed, err = r.List(dir + "/smp_affinity_list"); err != nil {
		return nil, nil, err
	}
	effective, err = r.List(dir + "/effective_affinity_list")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return allowed, effective, err
}
