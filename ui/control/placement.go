package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"wirespeed/engine"
)

// placement is which transmit queue each worker's frames really take, and what was changed on the device to make it so. Its methods may
// be called from any goroutine: a panicking one must be able to put the device back.
type placement struct {
	changes
	mu    sync.Mutex
	of    []int  // queue of worker i, -1 unknown
	found string // which queues are really used, "" where each worker has its own
}

// queue is the queue of a worker, -1 where it is not known.
func (p *placement) queue(worker int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if worker >= len(p.of) {
		return -1
	}
	return p.of[worker]
}

// known says whether each worker's queue is.
func (p *placement) known() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !slices.Contains(p.of, -1)
}

// words says which queues are used, "" where each worker has its own.
func (p *placement) words() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found
}

// settle keeps an outcome.
func (p *placement) settle(of []int, words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of, p.found = of, words
}

// xpsSetter writes XPS maps.
type xpsSetter interface {
	SetXPS(queue int, cpus []int) (restore func() error, err error)
}

// steer gives each worker a queue of its own through XPS, which both paths obey. If it cannot, nothing has changed.
func (p *placement) steer(d xpsSetter, cpus []int) error {
	for queue, cpu := range cpus {
		undo, err := d.SetXPS(queue, []int{cpu})
		if err != nil {
			return errors.Join(err, p.restore())
		}
		p.keep(undo)
	}
	return nil
}

// place sees to it that each worker feeds a queue of its own, where that can be had, and finds out which are used. The caller holds cmd.
func (r *Run) place() {
	cfg := r.eng.Config()
	r.mu.Lock()
	queues, qdisc := r.engDev.Queues, r.link.Qdisc
	r.mu.Unlock()
	cpus := workerCPUs(cfg)
	if err := r.steering.restore(); err != nil {
		r.log.add("", "XPS: "+err.Error())
	}
	if queues == 1 {
		of := make([]int, len(cpus)) // there is no other
		r.steering.settle(of, shared(of))
		return
	}
	// One worker is fed well by any queue, and an operator who turns XPS steers: the device stays as it is.
	if len(cpus) > 1 && !r.operators.hasAny("xps[") && distinct(cpus) == len(cpus) && r.steering.steer(r.guard, cpus) == nil {
		r.steering.settle(ascending(len(cpus)), "")
		return
	}
	of := predict(r.dev, cfg.Path, cpus, queues)
	words := shared(of)
	if slices.Contains(of, -1) && len(of) > 1 { // a single worker is in nobody's way
		words = unknownQueues(qdisc)
		if _, err := r.dev.QueueBytes(); err == nil {
			words = "which queues are used is not known yet"
		}
	}
	r.steering.settle(of, words)
}

// workerCPUs are the CPUs of the workers.
func workerCPUs(cfg engine.Config) []int {
	cpus := make([]int, cfg.Queues)
	for i := range cpus {
		if len(cfg.CPUs) > 0 {
			cpus[i] = cfg.CPUs[i%len(cfg.CPUs)]
		}
	}
	return cpus
}

// predict says which queue the kernel chooses for frames sent on each CPU, -1 where the flow decides: an XPS map, else on the bypass
// the CPU modulo the queues (packet_pick_tx_queue in net/packet/af_packet.c). A driver that chooses by itself may do otherwise.
func predict(d steerer, path engine.Path, cpus []int, queues int) []int {
	maps := make([][]int, queues)
	for q := range maps {
		maps[q], _ = d.XPS(q) // without XPS there is no map
	}
	of := make([]int, len(cpus))
	for i, cpu := range cpus {
		of[i] = -1
		if path == engine.Bypass {
			of[i] = cpu % queues
		}
		var mapped []int
		for q, m := range maps {
			if slices.Contains(m, cpu) {
				mapped = append(mapped, q)
			}
		}
		switch len(mapped) {
		case 0:
		case 1:
			of[i] = mapped[0]
		default:
			of[i] = -1 // the flow chooses among them
		}
	}
	return of
}

func unknownQueues(qdisc string) string {
	if qdisc == "" {
		qdisc = "this qdisc"
	}
	return "which queues are used is not known: " + qdisc + " has no per-queue counters"
}

// shared says in words when workers share a queue.
func shared(of []int) string {
	if len(of) < 2 || slices.Contains(of, -1) || distinct(of) == len(of) {
		return ""
	}
	used := slices.Compact(slices.Sorted(slices.Values(of)))
	return fmt.Sprintf("%d workers share %s", len(of), queueList(used))
}

// queueList prints "queue 2" or "queues 0, 2".
func queueList(used []int) string {
	var list []string
	for _, q := range used {
		list = append(list, fmt.Sprint(q))
	}
	if len(list) == 1 {
		return "queue " + list[0]
	}
	return "queues " + strings.Join(list, ", ")
}

func distinct(list []int) int { return len(slices.Compact(slices.Sorted(slices.Values(list)))) }

func ascending(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

const (
	climbLook  = 100 * time.Millisecond // how long one choice of flows is watched
	climbTries = 40
)

// replace places the workers anew while frames flow. The caller holds cmd.
func (r *Run) replace() {
	r.place()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spawnClimb()
}

// spawnClimb lets climb run beside the present run where nothing else tells the queues. The caller holds mu.
func (r *Run) spawnClimb() {
	if !r.running() || r.engDev.Queues == 1 || r.steering.known() {
		return
	}
	ctx := r.ctx
	r.spawn(func() { r.climb(func(d time.Duration) bool { return sleep(ctx, d) }) })
}

// climb finds out from the queues' own counters which are used and, where fewer are than there are workers, varies the flows until each
// worker has a queue of its own or it has tried often enough. It runs while frames flow, and stops when going ends.
func (r *Run) climb(going func(time.Duration) bool) {
	best, err := r.moving(going)
	if err != nil || best == nil {
		return
	}
	cfg := r.eng.Config()
	want := min(cfg.Queues, r.engDevice().Queues)
	offsets := make([]uint16, cfg.Queues)
	copy(offsets, cfg.FlowOffsets)
	for try := 0; len(best) < want && try < climbTries; try++ {
		next := slices.Clone(offsets)
		// Worker 0 keeps its flow; another gets one that was not tried on it.
		next[1+try%(cfg.Queues-1)] += uint16(1 + try)
		if !r.turnFlows(cfg.Queues, next) {
			return // the operator turned something: place runs again
		}
		used, err := r.moving(going)
		if err != nil || used == nil {
			return
		}
		if len(used) > len(best) {
			best, offsets = used, next
		} else if !r.turnFlows(cfg.Queues, offsets) {
			return
		}
	}
	of := slices.Repeat([]int{-1}, cfg.Queues)
	words := fmt.Sprintf("%d workers use %s (which is whose is not known)", cfg.Queues, queueList(best))
	if len(best) == 1 {
		of = slices.Repeat([]int{best[0]}, cfg.Queues)
		words = shared(of)
	}
	r.steering.settle(of, words)
	if words != "" {
		r.log.add("", words)
	}
}

// engDevice is the device as the engine knows it.
func (r *Run) engDevice() engine.Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.engDev
}

// turnFlows gives the workers other flows, unless the configuration is not the one that was climbed on any more.
func (r *Run) turnFlows(workers int, offsets []uint16) bool {
	r.cmd.Lock()
	defer r.cmd.Unlock()
	cfg := r.eng.Config()
	if cfg.Queues != workers || cfg.Path != engine.QdiscPath {
		return false
	}
	cfg.FlowOffsets = offsets
	return r.eng.Apply(cfg) == nil
}

// moving are the queues that pass on at least a hundredth of all bytes, nil when time is up.
func (r *Run) moving(going func(time.Duration) bool) ([]int, error) {
	before, err := r.dev.QueueBytes()
	if err != nil {
		return nil, err
	}
	if !going(climbLook) {
		return nil, nil
	}
	after, err := r.dev.QueueBytes()
	if err != nil || len(after) != len(before) {
		return nil, err
	}
	var sum uint64
	for q := range after {
		sum += since(before[q], after[q])
	}
	var used []int
	for q := range after {
		if d := since(before[q], after[q]); d > 0 && d >= sum/100 {
			used = append(used, q)
		}
	}
	return used, nil
}
