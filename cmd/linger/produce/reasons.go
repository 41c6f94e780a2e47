package produce

import (
	"errors"

	"linger"
)

// maxReasons bounds the list; the brokers' error codes are not many more.
const maxReasons = 64

// reasons groups failed records by why they failed.
type reasons struct {
	list   []*reason
	others int64 // with reasons that the list had no room for
	show   int
}

// reason is one reason and the records it took.
type reason struct {
	key   string
	text  string // of the first record
	count int64
	first []place
}

func (r *reasons) add(err error, at place) {
	e := r.find(err)
	if e == nil {
		r.others++
		return
	}
	e.count++
	if len(e.first) < r.show {
		e.first = append(e.first, at)
	}
}

func (r *reasons) find(err error) *reason {
	key := kind(err)
	for _, e := range r.list {
		if e.key == key {
			return e
		}
	}
	if len(r.list) == maxReasons {
		return nil
	}
	e := &reason{key: key, text: err.Error()}
	r.list = append(r.list, e)
	return e
}

// kind is what errors of one reason have in common: Kafka's code where there is one, since the texts name partitions, sizes
// and times. One code may have several situations, such as the two time-outs.
func kind(err error) string {
	e, ok := errors.AsType[*linger.ProducerError](err)
	if !ok {
		return err.Error()
	}
	key := e.Code.Name()
	for _, s := range []error{linger.ErrForceClosed, linger.ErrBufferExhausted, linger.ErrTimeout, linger.ErrRecordTooLarge} {
		if errors.Is(err, s) {
			return key + " " + s.Error()
		}
	}
	return key
}
