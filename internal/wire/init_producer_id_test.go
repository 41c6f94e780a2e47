package wire

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestInitProducerIDRequestIsWhatOthersWrite(t *testing.T) {
	id, empty := "txn-1", ""
	for version := int16(0); version <= 5; version++ {
		for _, txn := range []*string{nil, &id, &empty} {
			t.Run(fmt.Sprintf("v%d, transactional %t", version, txn != nil), func(t *testing.T) {
				theirs := kmsg.NewPtrInitProducerIDRequest()
				theirs.Version, theirs.TransactionalID, theirs.TransactionTimeoutMillis = version, txn, 60000
				theirs.ProducerID, theirs.ProducerEpoch = 4711, 3
				ours := NewInitProducerIDRequest(version)
				ours.TransactionalID, ours.TransactionTimeoutMs = txn, 60000
				ours.ProducerID, ours.ProducerEpoch = 4711, 3
				ours.Enable2PC, ours.KeepPreparedTxn = true, true // not for these versions
				if got, want := ours.AppendTo(nil), theirs.AppendTo(nil); !bytes.Equal(got, want) {
					t.Errorf("got %x, want %x", got, want)
				}
				if ours.IsFlexible() != theirs.IsFlexible() || ours.Key() != theirs.Key() {
					t.Error("key or flexibility differ")
				}
			})
		}
	}
}

// KIP-939: v6 is v5 with two booleans before the tagged fields, and two fields more in the response.
func TestInitProducerIDVersion6(t *testing.T) {
	id := "t"
	tests := map[string]struct {
		enable, keep bool
		want         []byte
	}{
		"an ordinary transaction":          {false, false, []byte{2, 't', 0, 0, 0xea, 0x60, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 0, 0, 0}},
		"two-phase commit":                 {true, false, []byte{2, 't', 0, 0, 0xea, 0x60, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 1, 0, 0}},
		"keep what is prepared":            {true, true, []byte{2, 't', 0, 0, 0xea, 0x60, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 1, 1, 0}},
		"keep without two-phase commit on": {false, true, []byte{2, 't', 0, 0, 0xea, 0x60, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 0, 1, 0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			req := &InitProducerIDRequest{
				Version: 6, TransactionalID: &id, TransactionTimeoutMs: 60000, ProducerID: 9, ProducerEpoch: 2,
				Enable2PC: tt.enable, KeepPreparedTxn: tt.keep,
			}
			if got := req.AppendTo(nil); !bytes.Equal(got, tt.want) {
				t.Errorf("got  % x\nwant % x", got, tt.want)
			}
		})
	}
	t.Run("the response names the prepared transaction's producer", func(t *testing.T) {
		body := []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 3, 0, 0, 0, 0, 0, 0, 0, 8, 0, 2, 0}
		got := &InitProducerIDResponse{Version: 6}
		if err := got.ReadFrom(body); err != nil {
			t.Fatal(err)
		}
		want := &InitProducerIDResponse{
			Version: 6, ThrottleMs: 1, ProducerID: 9, ProducerEpoch: 3, OngoingTxnProducerID: 8, OngoingTxnProducerEpoch: 2,
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if again := got.AppendTo(nil); !bytes.Equal(again, body) {
			t.Errorf("written again it is % x", again)
		}
	})
}

func TestInitProducerIDResponseIsReadAsOthersWriteIt(t *testing.T) {
	for version := int16(0); version <= 5; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			theirs := kmsg.NewPtrInitProducerIDResponse()
			theirs.Version, theirs.ThrottleMillis, theirs.ErrorCode = version, 12, 51
			theirs.ProducerID, theirs.ProducerEpoch = 4711, 3
			if theirs.IsFlexible() {
				theirs.UnknownTags.Set(5, []byte("later"))
			}
			got := NewInitProducerIDRequest(version).ResponseKind().(*InitProducerIDResponse)
			if err := got.ReadFrom(theirs.AppendTo(nil)); err != nil {
				t.Fatal(err)
			}
			want := &InitProducerIDResponse{
				Version: version, ThrottleMs: 12, ErrorCode: 51, ProducerID: 4711, ProducerEpoch: 3,
				OngoingTxnProducerID: -1, OngoingTxnProducerEpoch: -1,
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEveryTruncatedInitProducerIDIsRefused(t *testing.T) {
	id := "txn"
	for version := int16(0); version <= MaxInitProducerIDVersion; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			req := NewInitProducerIDRequest(version)
			req.TransactionalID = &id
			for _, m := range []kmsg.Response{req.ResponseKind()} {
				body := m.AppendTo(nil)
				for n := range body {
					if err := m.ReadFrom(body[:n]); !errors.Is(err, ErrMalformed) {
						t.Errorf("response of %d of %d bytes: %v", n, len(body), err)
					}
				}
			}
			body := req.AppendTo(nil)
			for n := range body {
				if err := NewInitProducerIDRequest(version).ReadFrom(body[:n]); !errors.Is(err, ErrMalformed) {
					t.Errorf("request of %d of %d bytes: %v", n, len(body), err)
				}
			}
		})
	}
}

// FuzzInitProducerID: what is read and written again is the same message.
func FuzzInitProducerID(f *testing.F) {
	id := "txn"
	for version := int16(0); version <= MaxInitProducerIDVersion; version++ {
		req := &InitProducerIDRequest{Version: version, TransactionalID: &id, ProducerID: 5, Enable2PC: true}
		f.Add(version, req.AppendTo(nil))
		f.Add(version, (&InitProducerIDResponse{Version: version, ErrorCode: 53, ProducerID: -1}).AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		if version < 0 || version > MaxInitProducerIDVersion {
			return
		}
		req := NewInitProducerIDRequest(version)
		if req.ReadFrom(body) == nil {
			again := NewInitProducerIDRequest(version)
			if err := again.ReadFrom(req.AppendTo(nil)); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(req, again); d != "" {
				t.Error(d)
			}
		}
		resp := &InitProducerIDResponse{Version: version}
		if resp.ReadFrom(body) == nil {
			again := &InitProducerIDResponse{Version: version}
			if err := again.ReadFrom(resp.AppendTo(nil)); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(resp, again); d != "" {
				t.Error(d)
			}
		}
	})
}
