package trafgen

import "fmt"

// Pos is a place in a file, counted from 1; columns are bytes.
type Pos struct {
	File      string
	Line, Col int
}

// String returns file:line:column.
func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// Error is why a file is refused, one line.
type Error struct {
	Pos
	Text string
}

// Error returns place and reason.
func (e *Error) Error() string { return e.Pos.String() + ": " + e.Text }

func (p Pos) errorf(format string, args ...any) *Error {
	return &Error{p, fmt.Sprintf(format, args...)}
}

// Bounds. They are far above what files of people need, and low enough that no file costs much memory or time.
const (
	maxFile     = 1 << 20    // bytes of one file
	maxIncludes = 64         // files, the first one too
	maxDepth    = 16         // of includes
	maxNesting  = 200        // of parentheses
	maxMacros   = 1 << 14    // definitions
	maxTokens   = 1 << 20    // pieces of text, made by all files and macros together
	maxLooks    = 3 << 19    // looks at a piece while macros are replaced
	maxFrame    = 65535 + 18 // bytes of a packet: the longest IP packet with its Ethernet header and a VLAN tag
	maxTotal    = 64 << 20   // bytes of all packets
	maxPackets  = 1 << 16
	maxChanging = 1 << 12 // fields of a packet that change
	maxValues   = 1 << 18 // values of a field that goes through a list
)
