// Package far is how a sending console learns what arrived on another machine: a plain protocol between the console (Link) and a
// `wirespeed sink --listen` (Server). Each side proves that it has the shared key before the other says anything that matters.
//
// It knows nothing of devices, rings and screens: the server is given a function that makes a Report, the link keeps the last one.
//
// # The protocol
//
// TCP. All integers are big endian, all sizes fixed but that of a report. C is the console, S the sink, K the shared key (16 bytes at
// least), | puts bytes together.
//
//	C -> S   hello   magic "wsfar/1\n" (8 bytes), nonce Nc (32 random bytes)
//	S -> C   hello   magic, nonce Ns (32)
//	C -> S   proof   HMAC-SHA256(K, "wirespeed far 1 console" | Nc | Ns) (32)
//	S -> C   proof   HMAC-SHA256(K, "wirespeed far 1 sink" | Nc | Ns) (32)
//	C -> S   ask     nothing, sealed (16)
//	S -> C   report  length (2), a JSON object, sealed (length bytes, 2048 at most)
//	         ask and report as often as C likes, 20 ms apart at least: S waits where they come faster
//
// Sealed is AES-256-GCM with a key for each direction, HKDF-SHA256(secret K, salt Nc | Ns, info "wirespeed far 1 asks" or "... reports"),
// and the number of the message in its direction, from 0, as nonce (12 bytes). So neither side takes a message that was changed, left
// out, repeated, or recorded in another session. The console proves itself first: who has no key gets 40 bytes of noise from a sink, and
// nothing to try keys on. There is no forward secrecy: who has the key can read what was recorded. The figures are no secrets, and the
// key should be random, not a word.
//
// The fields of a report are those of Report. A report answers an ask: it was read after the ask had left the console, which is what
// makes its counts comparable to what was sent before.
//
// # Bounds
//
// A hostile peer can at worst close its connection. The server gives a handshake three seconds in all, an ask ten, and a report's way
// into the socket five; it holds 64 connections that have not proved themselves, where another comes the oldest has to go, and eight
// that have. A connection costs a goroutine and a buffer of some hundred bytes. The link bounds all its waiting likewise, takes reports
// of 2048 bytes at most, and of their texts only printable characters, 64 of them.
//
// # Threading
//
// Server has a goroutine that accepts and one for each connection; Close ends and awaits all. Link has one that dials and asks. Both start
// theirs through the function they are given. All methods may be called from any goroutine.
package far
