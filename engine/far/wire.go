package far

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Sizes of the handshake, in bytes; see the package's comment.
const (
	nonceLen = 32
	proofLen = sha256.Size
	tagLen   = 16 // of GCM: all that a sealed ask is
)

var magic = []byte("wsfar/1\n")

// Errors of a peer that is not what it should be. What wraps them says more for people.
var (
	errProtocol = errors.New("it does not speak this protocol")
	errProof    = errors.New("it has another key")
	errForged   = errors.New("a message was changed or repeated on its way")
)

// hello is the first message of either side with a nonce of its own.
func hello() (message []byte) {
	message = make([]byte, len(magic)+nonceLen)
	copy(message, magic)
	_, _ = rand.Read(message[len(magic):]) // never fails (crypto/rand)
	return message
}

// readHello reads the other side's first message and returns its nonce.
func readHello(r io.Reader) ([]byte, error) {
	message := make([]byte, len(magic)+nonceLen)
	// The magic alone first: who sends eight other bytes need not be waited for.
	if _, err := io.ReadFull(r, message[:len(magic)]); err != nil {
		return nil, err
	}
	if !bytes.Equal(message[:len(magic)], magic) {
		return nil, errProtocol
	}
	_, err := io.ReadFull(r, message[len(magic):])
	return message[len(magic):], err
}

// proof shows that who made it has the key, in this session, in this role.
func proof(k Key, role string, nonces []byte) []byte {
	h := hmac.New(sha256.New, k.secret)
	h.Write([]byte("wirespeed far 1 " + role))
	h.Write(nonces)
	return h.Sum(nil)
}

// readProof reads and judges the other side's proof.
func readProof(r io.Reader, k Key, role string, nonces []byte) error {
	got := make([]byte, proofLen)
	if _, err := io.ReadFull(r, got); err != nil {
		return err
	}
	if !hmac.Equal(got, proof(k, role, nonces)) {
		return errProof
	}
	return nil
}

// seal is one direction of a session.
type seal struct {
	aead cipher.AEAD
	n    uint64 // of the next message
}

func newSeal(k Key, nonces []byte, direction string) (*seal, error) {
	key, err := hkdf.Key(sha256.New, k.secret, nonces, "wirespeed far 1 "+direction, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &seal{aead: aead}, err
}

// nonce numbers a message; 2^64 of them are never sent.
func (s *seal) nonce() []byte {
	nonce := make([]byte, s.aead.NonceSize())
	binary.BigEndian.PutUint64(nonce[len(nonce)-8:], s.n)
	s.n++
	return nonce
}

func (s *seal) close(text []byte) []byte { return s.aead.Seal(nil, s.nonce(), text, nil) }

func (s *seal) open(sealed []byte) ([]byte, error) {
	text, err := s.aead.Open(nil, s.nonce(), sealed, nil)
	if err != nil {
		return nil, errForged
	}
	return text, nil
}

// session is what both sides have after the handshake.
type session struct{ asks, reports *seal }

func newSession(k Key, nonces []byte) (s session, err error) {
	if s.asks, err = newSeal(k, nonces, "asks"); err == nil {
		s.reports, err = newSeal(k, nonces, "reports")
	}
	return s, err
}

// greet is the console's side of the handshake.
func greet(rw io.ReadWriter, k Key) (session, error) {
	mine := hello()
	if _, err := rw.Write(mine); err != nil {
		return session{}, err
	}
	theirs, err := readHello(rw)
	if err != nil {
		return session{}, err
	}
	nonces := append(mine[len(magic):], theirs...)
	if _, err := rw.Write(proof(k, "console", nonces)); err != nil {
		return session{}, err
	}
	if err := readProof(rw, k, "sink", nonces); err != nil {
		if errors.Is(err, io.EOF) { // it closes without a word where our proof is wrong
			err = errProof
		}
		return session{}, err
	}
	return newSession(k, nonces)
}

// welcome is the sink's side.
func welcome(rw io.ReadWriter, k Key) (session, error) {
	theirs, err := readHello(rw)
	if err != nil {
		return session{}, err
	}
	mine := hello()
	nonces := append(theirs, mine[len(magic):]...)
	if _, err := rw.Write(mine); err != nil {
		return session{}, err
	}
	if err := readProof(rw, k, "console", nonces); err != nil {
		return session{}, err
	}
	if _, err := rw.Write(proof(k, "sink", nonces)); err != nil {
		return session{}, err
	}
	return newSession(k, nonces)
}

// ask writes one ask.
func (s session) ask(w io.Writer) error {
	_, err := w.Write(s.asks.close(nil))
	return err
}

// readAsk waits for one.
func (s session) readAsk(r io.Reader) error {
	sealed := make([]byte, tagLen)
	if _, err := io.ReadFull(r, sealed); err != nil {
		return err
	}
	_, err := s.asks.open(sealed)
	return err
}

// report writes one report.
func (s session) report(w io.Writer, r Report) error {
	text, err := r.encode()
	if err != nil {
		return err
	}
	sealed := s.reports.close(text)
	message := append(binary.BigEndian.AppendUint16(nil, uint16(len(sealed))), sealed...)
	_, err = w.Write(message)
	return err
}

// readReport waits for one.
func (s session) readReport(r io.Reader) (Report, error) {
	var length [2]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return Report{}, err
	}
	n := binary.BigEndian.Uint16(length[:])
	if n > maxReport {
		return Report{}, fmt.Errorf("a report of %d bytes: %w", n, errProtocol)
	}
	sealed := make([]byte, n)
	if _, err := io.ReadFull(r, sealed); err != nil {
		return Report{}, err
	}
	text, err := s.reports.open(sealed)
	if err != nil {
		return Report{}, err
	}
	return decode(text)
}
