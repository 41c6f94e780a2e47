package wire

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// CASES B24: what a peer that is no broker answers is recognised before memory is taken.
func TestWhatALengthPrefixIsTakenFor(t *testing.T) {
	tests := map[string]struct {
		first string
		limit int
		want  int
		err   string // empty: believed
	}{
		"an ordinary length":        {"\x00\x00\x01\x00", 0, 256, ""},
		"an empty frame":            {"\x00\x00\x00\x00", 0, 0, ""},
		"exactly the default limit": {"\x06\x40\x00\x00", 0, DefaultFrameLimit, ""},
		"one above it":              {"\x06\x40\x00\x01", 0, 0, "malformed message: response length is 104857601 bytes, the limit is 104857600"},
		"above a limit of one's own": {"\x00\x00\x00\x65", 100, 0,
			"malformed message: response length is 101 bytes, the limit is 100"},
		"the largest length": {"\x7f\xff\xff\xff", 0, 0, "malformed message: response length is 2147483647 bytes, the limit is 104857600"},
		"minus five":         {"\xff\xff\xff\xfb", 0, 0, "malformed message: response length is -5"},
		"HTTP":               {"HTTP/1.1 400 Bad Request", 0, 0, "the peer does not look like a Kafka broker: its answer looks like HTTP"},
		"HTTP under a high limit": {"HTTP/1.1 400", 2 << 30, 0,
			"the peer does not look like a Kafka broker: its answer looks like HTTP"},
		"a TLS alert": {"\x15\x03\x01\x00\x02\x02\x0a", 0, 0,
			"the peer does not look like a Kafka broker: its answer looks like TLS (an alert): the peer speaks TLS, while we speak without"},
		"a TLS handshake": {"\x16\x03\x03\x00\x7a", 0, 0,
			"the peer does not look like a Kafka broker: its answer looks like TLS (a handshake): the peer speaks TLS, while we speak without"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := FrameLength([SizePrefix]byte([]byte(tt.first)), tt.limit)
			if tt.err == "" {
				if err != nil || got != tt.want {
					t.Errorf("got %d, %v, want %d", got, err, tt.want)
				}
				return
			}
			if err == nil || err.Error() != tt.err {
				t.Errorf("got %v\nwant %s", err, tt.err)
			}
			if notKafka := strings.Contains(tt.err, "Kafka"); errors.Is(err, ErrNotKafka) != notKafka || errors.Is(err, ErrMalformed) == notKafka {
				t.Errorf("%v is the wrong kind of error", err)
			}
			r := FrameReader{R: strings.NewReader(tt.first), Limit: tt.limit}
			if buf, err := r.Next(nil); err == nil || err.Error() != tt.err || buf != nil {
				t.Errorf("the reader says %v with %d bytes", err, len(buf))
			}
		})
	}
}

func framed(bodies ...[]byte) []byte {
	var b []byte
	for _, body := range bodies {
		b = append(appendInt32(b, int32(len(body))), body...)
	}
	return b
}

func TestFramesComeOutAsTheyWentIn(t *testing.T) {
	bodies := [][]byte{
		[]byte("first"), {}, bytes.Repeat([]byte("ab"), firstRead), bytes.Repeat([]byte{7}, firstRead), []byte("last"),
	}
	streams := map[string]func(io.Reader) io.Reader{
		"all at once":           func(r io.Reader) io.Reader { return r },
		"a byte at a time":      iotest.OneByteReader,
		"half of what is asked": iotest.HalfReader,
		"the end with the data": iotest.DataErrReader,
	}
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) {
			r := FrameReader{R: stream(bytes.NewReader(framed(bodies...)))}
			for i, want := range bodies {
				got, err := r.Next([]byte("kept"))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, append([]byte("kept"), want...)) {
					t.Errorf("frame %d: %d bytes, want %d behind what was there", i, len(got), len(want))
				}
			}
			if _, err := r.Next(nil); err != io.EOF {
				t.Errorf("at the end: %v, want EOF", err)
			}
		})
	}
}

func TestAStreamThatEndsInsideAFrameIsUnexpected(t *testing.T) {
	whole := framed(bytes.Repeat([]byte{1}, 3*firstRead))
	for _, n := range []int{1, 3, 4, 5, firstRead, firstRead + 4, firstRead + 5, len(whole) - 1} {
		r := FrameReader{R: bytes.NewReader(whole[:n])}
		if _, err := r.Next(nil); err != io.ErrUnexpectedEOF {
			t.Errorf("after %d bytes: %v, want %v", n, err, io.ErrUnexpectedEOF)
		}
	}
	broken := errors.New("reset by peer")
	r := FrameReader{R: io.MultiReader(bytes.NewReader(whole[:100]), iotest.ErrReader(broken))}
	if _, err := r.Next(nil); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func TestMemoryGrowsWithWhatArrivesNotWithWhatIsAnnounced(t *testing.T) {
	stream := append(appendInt32(nil, DefaultFrameLimit), make([]byte, 100)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := FrameReader{R: bytes.NewReader(stream)}
	if _, err := r.Next(nil); err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4*firstRead {
		t.Errorf("100 bytes of an announced 100 MiB took %d bytes", took)
	}
}

func TestReadingIntoAWarmBufferAllocatesNothing(t *testing.T) {
	stream := bytes.NewReader(framed(make([]byte, 1000)))
	r := FrameReader{R: stream}
	buf := make([]byte, 0, 1000)
	wantAllocs(t, 0, func() {
		stream.Seek(0, io.SeekStart)
		if _, err := r.Next(buf); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzFrameReader(f *testing.F) {
	f.Add(framed([]byte("one"), nil, []byte("two")))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n"))
	f.Add([]byte{0x15, 3, 1, 0, 2, 2, 10})
	f.Add([]byte{0xff, 0xff, 0xff, 0xfb})
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := FrameReader{R: bytes.NewReader(stream), Limit: 1 << 16}
		var all []byte
		for {
			frame, err := r.Next(nil)
			if err != nil {
				break
			}
			all = slices.Concat(all, framed(frame))
		}
		if !bytes.HasPrefix(stream, all) {
			t.Error("the frames are not what was in the stream")
		}
	})
}
