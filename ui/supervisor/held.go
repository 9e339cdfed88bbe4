package supervisor

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	heldMost = 1 << 20         // bytes kept; the head of a panic says most
	heldWait = 2 * time.Second // for the end of a worker's stderr once the worker has ended: its children may keep it open
)

// held is what the worker wrote to stderr while it had the screen. All methods work on a nil held, where nothing is held back.
type held struct {
	to   io.Writer
	r, w *os.File
	done chan struct{} // closed when all has been read

	mu      sync.Mutex // guards what follows
	text    bytes.Buffer
	dropped int
}

// hold makes cmd's stderr a pipe that is read from now on. Call started when cmd has (or has not) started.
func hold(cmd *exec.Cmd, to io.Writer) (*held, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the worker: %w", err)
	}
	cmd.Stderr = w
	h := &held{to: to, r: r, w: w, done: make(chan struct{})}
	go func() {
		defer close(h.done)
		_, _ = io.Copy(h, r)
	}()
	return h, nil
}

// Write keeps p, as far as there is room.
func (h *held) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := min(len(p), heldMost-h.text.Len())
	h.text.Write(p[:room])
	h.dropped += len(p) - room
	return len(p), nil
}

func (h *held) started() {
	if h != nil {
		h.w.Close()
	}
}

// flush prints what has come so far.
func (h *held) flush() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = h.to.Write(h.text.Bytes())
	if h.dropped > 0 {
		fmt.Fprintf(h.to, "\nwirespeed: %d more bytes are left out here\n", h.dropped)
	}
	h.text.Reset()
	h.dropped = 0
}

// finish prints the rest, after the worker's end.
func (h *held) finish() {
	if h == nil {
		return
	}
	select {
	case <-h.done:
	case <-time.After(heldWait):
	}
	h.flush()
	h.r.Close()
}
