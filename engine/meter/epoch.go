package meter

// Epoch is the time between two changes: what its valid samples say. Times are ns per packet.
type Epoch struct {
	Number int
	Label  string // what began it: "start", "burst 8", "link up"
	Mark   string // the name it is kept by, "" if it is not

	N        int     // valid samples
	PPS      float64 // mean
	MeanNS   float64
	StdDevNS float64
	MinNS    float64
	MaxNS    float64
}
