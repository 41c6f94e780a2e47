package produce

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"linger"
)

func TestReasonsAreGroupedByWhatTheyHaveInCommon(t *testing.T) {
	tooLarge := func(n int) error {
		return &linger.ProducerError{Op: "send", Code: 10, Msg: fmt.Sprintf("%d bytes", n), Err: linger.ErrRecordTooLarge}
	}
	timeout := func(p int32) error {
		return &linger.ProducerError{Op: "send", Topic: "t", Partition: p, Code: 7, Msg: "expired", Err: linger.ErrTimeout}
	}
	full := &linger.ProducerError{Op: "send", Code: 7, Msg: "no memory", Err: linger.ErrBufferExhausted}
	r := reasons{show: 2}
	for i, err := range []error{tooLarge(1), timeout(0), tooLarge(2), full, timeout(3), tooLarge(3), errors.New("own")} {
		r.add(err, place{0, i + 1})
	}
	type group struct {
		text  string
		count int64
		first []place
	}
	want := []group{
		{tooLarge(1).Error(), 3, []place{{0, 1}, {0, 3}}}, {timeout(0).Error(), 2, []place{{0, 2}, {0, 5}}}, {full.Error(), 1, []place{{0, 4}}}, {"own", 1, []place{{0, 7}}},
	}
	if len(r.list) != len(want) {
		t.Fatalf("%d reasons, want %d", len(r.list), len(want))
	}
	for i, w := range want {
		if got := r.list[i]; got.text != w.text || got.count != w.count || !slices.Equal(got.first, w.first) {
			t.Errorf("reason %d: %+v, want %+v", i, *got, w)
		}
	}
}

func TestTheListOfReasonsIsBounded(t *testing.T) {
	r := reasons{show: 1}
	for i := range maxReasons + 5 {
		r.add(fmt.Errorf("reason %d", i), place{})
	}
	r.add(errors.New("reason 0"), place{})
	if len(r.list) != maxReasons || r.others != 5 || r.list[0].count != 2 {
		t.Errorf("%d reasons, %d others, the first %d times", len(r.list), r.others, r.list[0].count)
	}
}
