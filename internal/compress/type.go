package compress

import "fmt"

// Type is a codec. The numbers are those of the attributes in a record batch's header.
type Type int8

const (
	None Type = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

var typeNames = [...]string{None: "none", Gzip: "gzip", Snappy: "snappy", LZ4: "lz4", Zstd: "zstd"}

// String is the codec's name as compression.type has it.
func (t Type) String() string {
	if t < None || t > Zstd {
		return fmt.Sprintf("Type(%d)", int8(t))
	}
	return typeNames[t]
}

// ParseType finds the codec that compression.type names. Names are in lower case, as in Java 4.4.
func ParseType(name string) (Type, error) {
	for t, n := range typeNames {
		if n == name {
			return Type(t), nil
		}
	}
	return None, fmt.Errorf("unknown compression name: %s", name)
}

// Levels says which levels the codec has and which is the default: those of compression.<codec>.level in Java 4.4.
// Gzip has -1, its default, besides the range 1 to 9. ok is false for a codec without levels.
func (t Type) Levels() (low, high, byDefault int, ok bool) {
	switch t {
	case Gzip:
		return 1, 9, -1, true
	case LZ4:
		return 1, 17, 9, true
	case Zstd:
		return -1 << 17, 22, 3, true
	}
	return 0, 0, 0, false
}

// Codec is a codec with its level. The zero value compresses nothing.
type Codec struct {
	Type Type
	// Level is one of Type.Levels; it is not looked at for codecs without levels.
	Level int
}

// Default is the codec at its default level.
func (t Type) Default() Codec {
	_, _, level, _ := t.Levels()
	return Codec{Type: t, Level: level}
}

// Validate refuses a type or level that does not exist.
func (c Codec) Validate() error {
	if c.Type < None || c.Type > Zstd {
		return fmt.Errorf("unknown compression type: %d", int8(c.Type))
	}
	low, high, byDefault, ok := c.Type.Levels()
	if !ok || c.Level == byDefault || low <= c.Level && c.Level <= high {
		return nil
	}
	if byDefault < low {
		return fmt.Errorf("compression.%s.level is %d, must be between %d and %d or equal to %d", c.Type, c.Level, low, high, byDefault)
	}
	return fmt.Errorf("compression.%s.level is %d, must be between %d and %d", c.Type, c.Level, low, high)
}
