package far

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// KeyVariable is the environment variable that holds the key where no file is named.
const KeyVariable = "WIRESPEED_KEY"

// Bounds of a key in bytes, white space around it not counted.
const (
	minKey = 16
	maxKey = 4096
)

// ErrKey is what errors about a key are: a wrong command line.
var ErrKey = errors.New("key")

// Key is the secret that both ends share. It prints as nothing that helps.
type Key struct{ secret []byte }

// String never tells the secret.
func (Key) String() string { return "(key)" }

// GoString never tells the secret.
func (Key) GoString() string { return "far.Key{}" }

// keyError is a wrong key, in a sentence: errors.Is(err, ErrKey).
type keyError string

func (e keyError) Error() string        { return string(e) }
func (e keyError) Is(target error) bool { return target == ErrKey }

// ReadKey reads the key of a file, or of the environment variable KeyVariable where file is "". White space around it does not count, so
// that a final newline is no part of it. A file that others may read is refused: errors.Is(err, ErrKey).
func ReadKey(file string) (Key, error) {
	if file == "" {
		text, found := os.LookupEnv(KeyVariable)
		if !found {
			return Key{}, keyError("a key is needed: --key-file FILE, or " + KeyVariable + " in the environment (make one: umask 077; head -c 32 /dev/urandom | base64 >FILE)")
		}
		return newKey(KeyVariable, []byte(text))
	}
	f, err := os.Open(file)
	if err != nil {
		return Key{}, keyError(fmt.Sprintf("key file: %v", err))
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return Key{}, keyError(fmt.Sprintf("key file: %v", err))
	case info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0:
		return Key{}, keyError(fmt.Sprintf("key file %s: others may read it (mode %04o): chmod 600 it", file, info.Mode().Perm()))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return Key{}, keyError(fmt.Sprintf("key file: %v", err))
	}
	return newKey("key file "+file, text)
}

func newKey(from string, text []byte) (Key, error) {
	secret := bytes.TrimSpace(text)
	if len(secret) < minKey || len(secret) > maxKey {
		return Key{}, keyError(fmt.Sprintf("%s: a key has %d to %d bytes (make one: umask 077; head -c 32 /dev/urandom | base64 >FILE)", from, minKey, maxKey))
	}
	return Key{bytes.Clone(secret)}, nil
}
