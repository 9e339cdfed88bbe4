package supervisor_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"wirespeed/ui/supervisor"
)

// role and what tell this binary, run again by its own tests, what to be: role "outer" or "console" is a supervisor, and what is how its
// worker behaves.
const (
	role = "WIRESPEED_TEST_ROLE"
	what = "WIRESPEED_TEST_WHAT"
)

func TestMain(m *testing.M) {
	switch {
	case supervisor.IsWorker():
		work(os.Getenv(what))
	case os.Getenv(role) != "":
		cmd := exec.Command("/proc/self/exe")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		code, err := supervisor.Run(cmd, supervisor.Options{Console: os.Getenv(role) == "console"})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

func work(how string) {
	if how == "sleepy" { // as if the program took long to start
		time.Sleep(300 * time.Millisecond)
	}
	ends, err := supervisor.Worker()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	word, argument, _ := strings.Cut(how, " ")
	switch word {
	case "exit":
		code, _ := strconv.Atoi(argument)
		os.Exit(code)
	case "panic":
		panic("planted")
	case "guarded":
		supervisor.Guarded(func() { fmt.Fprintln(os.Stderr, "put back") })(deepPanic)
		select {}
	case "suspendable":
		fmt.Println("SUSPENDABLE", supervisor.CanSuspend())
		os.Exit(0)
	case "die":
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		select {}
	case "pipe":
		<-ends // the other end is closed by then
		_, err := os.Stdout.WriteString("x\n")
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(0)
	case "stuck": // an end in order that never ends
		ctx, _ := supervisor.Watch(context.Background(), ends, supervisor.Reactions{
			Go:      func(f func()) { go f() },
			Resumed: func() { fmt.Println("resumed") },
			AtOnce:  func() { fmt.Println("at once"); os.Exit(130) },
		})
		fmt.Println("READY", os.Getpid())
		<-ctx.Done()
		fmt.Println(context.Cause(ctx))
		select {}
	case "draw":
		draw(ends)
	}
	fmt.Println("READY", os.Getpid())
	fmt.Println("END", <-ends)
	os.Exit(0)
}

func deepPanic() { panic("planted") }

// draw is a console in small: raw settings, the other screen, keys.
func draw(ends <-chan os.Signal) {
	cooked, err := unix.IoctlGetTermios(0, unix.TCGETS)
	if err != nil {
		panic(err)
	}
	raw := *cooked
	raw.Iflag &^= unix.ICRNL | unix.IXON
	raw.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG | unix.IEXTEN
	raw.Oflag &^= unix.OPOST
	start := func() {
		if err := unix.IoctlSetTermios(0, unix.TCSETS, &raw); err != nil {
			panic(err)
		}
		fmt.Print("\x1b[?1049h\x1b[?25l")
	}
	var stopped atomic.Bool
	stop := func() {
		fmt.Print("\x1b[?25h\x1b[?1049l")
		_ = unix.IoctlSetTermios(0, unix.TCSETS, cooked)
	}
	start()
	fmt.Printf("DRAWN %d\r\n", os.Getpid())
	go func() {
		fmt.Printf("END %v\r\n", <-ends)
		stop()
		os.Exit(0)
	}()
	for {
		var key [1]byte
		if _, err := os.Stdin.Read(key[:]); err != nil {
			panic(err)
		}
		switch key[0] {
		case 'q':
			stop()
			fmt.Println("Result")
			os.Exit(7)
		case 'p':
			fmt.Fprintln(os.Stderr, "said before")
			go panic("planted")
			select {}
		case 26: // ctrl+z
			stop()
			stopped.Store(true)
			_ = unix.Kill(0, unix.SIGTSTP)
			time.Sleep(50 * time.Millisecond) // the stop takes effect in any thread
			start()
			fmt.Print("AGAIN\r\n")
		default:
			fmt.Printf("KEY %q\r\n", key)
		}
	}
}
