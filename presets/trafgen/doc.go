// Package trafgen reads the packet language of trafgen 0.6.8 (netsniff-ng) and compiles it to what the engine sends: for each packet of a file its
// bytes, the fields that change from frame to frame and the checksums that follow.
//
// A file goes through a small built-in C preprocessor (macros, conditions, files beside it, and trafgen's own <stddef.h>), a lexer and a parser,
// which know no device; Compile then fills in what depends on one. What trafgen sends, these frames are, byte for byte: also where that is not what
// one would guess (operators have no precedence, the checksum of udp() does not follow bytes that change behind it). Where trafgen crashes or hangs,
// the file is refused or does what the manual page says. Every refusal is one *Error with file, line and column.
//
// The package sends nothing, and reads no file but the one that it is told to and those that it includes. All sizes are bounded: of files, of
// what macros become, of packets. Values it returns are the caller's; nothing here has state.
package trafgen
