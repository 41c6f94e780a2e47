package wire

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestRequestsAreFramedAsOthersFrameThem(t *testing.T) {
	metadata := func(version int16) kmsg.Request {
		r := kmsg.NewPtrMetadataRequest()
		r.Version = version
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr("orders")
		r.Topics = append(r.Topics, topic)
		return r
	}
	versions := func(version int16) kmsg.Request {
		r := kmsg.NewPtrApiVersionsRequest()
		r.Version, r.ClientSoftwareName, r.ClientSoftwareVersion = version, "linger", "1"
		return r
	}
	requests := map[string]kmsg.Request{
		"metadata v4 has header v1":      metadata(4),
		"metadata v13 has header v2":     metadata(13),
		"api versions v0 has header v1":  versions(0),
		"api versions v4 has header v2":  versions(4),
		"init producer id v1 is ours v1": NewInitProducerIDRequest(1),
	}
	for name, req := range requests {
		t.Run(name, func(t *testing.T) {
			theirs := kmsg.NewRequestFormatter(kmsg.FormatterClientID("me")).AppendRequest(nil, req, -9)
			want := append([]byte("before"), theirs...)
			if got := AppendRequest([]byte("before"), req, -9, "me"); !bytes.Equal(got, want) {
				t.Errorf("got  % x\nwant % x", got, want)
			}
		})
	}
}

func TestResponseHeaders(t *testing.T) {
	body := []byte("body")
	corr := []byte{0x80, 0, 0, 7}
	const wantCorr = -1<<31 + 7
	tests := map[string]struct {
		frame    []byte
		key      int16
		flexible bool
		fails    bool
	}{
		"v0 is a correlation id":                      {append(corr, body...), KeyProduce, false, false},
		"v1 has tags too":                             {append(append(corr, 0), body...), KeyProduce, true, false},
		"tags of v1 are passed over":                  {append(append(corr, 1, 5, 2, 'x', 'y'), body...), KeyProduce, true, false},
		"api versions is always v0":                   {append(corr, body...), KeyApiVersions, true, false},
		"v1 without its tags is refused":              {corr, KeyProduce, true, true},
		"a tag longer than the frame is refused":      {append(corr, 1, 5, 200, 1), KeyProduce, true, true},
		"a frame without a correlation id is refused": {corr[:3], KeyProduce, false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ResponseBody(tt.frame, tt.key, tt.flexible)
			if tt.fails {
				if !errors.Is(err, ErrMalformed) {
					t.Errorf("got %v, want it refused", err)
				}
				return
			}
			if err != nil || !bytes.Equal(got, body) {
				t.Errorf("got %q, %v, want %q", got, err, body)
			}
			if id, err := CorrelationID(tt.frame); err != nil || id != wantCorr {
				t.Errorf("correlation id %d, %v, want %d", id, err, wantCorr)
			}
		})
	}
	if _, err := CorrelationID(corr[:3]); !errors.Is(err, ErrMalformed) {
		t.Errorf("three bytes are no correlation id, got %v", err)
	}
}

func FuzzResponseHeader(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 'b'}, int16(0), true)
	f.Add([]byte{0, 0, 0, 1, 2, 0, 1, 'x', 1, 0, 'b'}, int16(3), true)
	f.Add([]byte{0, 0, 0}, int16(18), true)
	f.Fuzz(func(t *testing.T, frame []byte, key int16, flexible bool) {
		body, err := ResponseBody(frame, key, flexible)
		_, corrErr := CorrelationID(frame)
		if err == nil && corrErr != nil {
			t.Errorf("a body without a correlation id: %v", corrErr)
		}
		if err == nil && !bytes.HasSuffix(frame, body) {
			t.Error("the body is not the end of the frame")
		}
		if err != nil && body != nil {
			t.Error(fmt.Sprint("a body came with ", err))
		}
	})
}
