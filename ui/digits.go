package ui

// font holds the digits as 3 by 5 points, one byte a row, the leftmost point the highest of three bits.
var font = map[byte][5]byte{
	'0': {7, 5, 5, 5, 7},
	'1': {2, 6, 2, 2, 7},
	'2': {7, 1, 7, 4, 7},
	'3': {7, 1, 7, 1, 7},
	'4': {5, 5, 7, 1, 1},
	'5': {7, 4, 7, 1, 7},
	'6': {7, 4, 7, 5, 7},
	'7': {7, 1, 1, 1, 1},
	'8': {7, 5, 7, 5, 7},
	'9': {7, 5, 7, 1, 7},
	'-': {0, 0, 7, 0, 0},
	' ': {0, 0, 0, 0, 0},
	',': {0, 0, 0, 1, 1}, // narrow: one point wide
	'.': {0, 0, 0, 0, 1},
}

func narrow(c byte) bool { return c == ',' || c == '.' }

// largeWidth is the width of a text in the large digits: every point is two cells wide and one high.
func largeWidth(s string) int { return pointsWidth(s, 2) }

// smallWidth is its width in the small digits: every point is one cell wide and half a cell high.
func smallWidth(s string) int { return pointsWidth(s, 1) }

func pointsWidth(s string, scale int) int {
	n := 0
	for i := range len(s) {
		n += 3*scale + 1
		if narrow(s[i]) {
			n -= 2 * scale
		}
	}
	return max(n-1, 0)
}

// large draws a number five lines high.
func large(s, point string) [5]string {
	var out [5]string
	for y := range out {
		var b []byte
		for i := range len(s) {
			if i > 0 {
				b = append(b, ' ')
			}
			for x := firstPoint(s[i]); x < 3; x++ {
				p := " "
				if font[s[i]][y]>>(2-x)&1 == 1 {
					p = point
				}
				b = append(append(b, p...), p...)
			}
		}
		out[y] = string(b)
	}
	return out
}

// small draws a number three lines high, from half blocks.
func small(s string) [3]string {
	halves := [4]string{" ", "▀", "▄", "█"}
	var out [3]string
	for y := range out {
		var b []byte
		for i := range len(s) {
			if i > 0 {
				b = append(b, ' ')
			}
			for x := firstPoint(s[i]); x < 3; x++ {
				n := font[s[i]][2*y] >> (2 - x) & 1
				if y < 2 {
					n |= font[s[i]][2*y+1] >> (2 - x) & 1 << 1
				}
				b = append(b, halves[n]...)
			}
		}
		out[y] = string(b)
	}
	return out
}

func firstPoint(c byte) int {
	if narrow(c) {
		return 2
	}
	return 0
}
