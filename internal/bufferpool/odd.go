package bufferpool

import "slices"

// oddBuffers are buffers of other than the poolable size that came back: those of records larger than a batch. To the accounts
// they do not exist, they are allowance (in Java they are garbage). But a record of a megabyte costs more to clear fresh
// memory for than to copy, and the garbage of some of them is as large as the pool. So they are kept as long as there is
// allowance that they can stand for: what is lent, free and kept here never exceeds the pool's total.
type oddBuffers struct {
	list  [][]byte // the oldest first
	bytes int64
}

const maxOddBuffers = 64

// put keeps b, which was lent with accounted bytes: nothing smaller stood for less memory than it is.
func (o *oddBuffers) put(b []byte, accounted int) {
	if b == nil || cap(b) == 0 || cap(b) > accounted {
		return
	}
	if len(o.list) == maxOddBuffers {
		o.drop()
	}
	b = b[:cap(b)]
	putPoison(b)
	o.list = append(o.list, b)
	o.bytes += int64(cap(b))
}

// take is the newest buffer that has size bytes and not many more, cut to size; nil when there is none.
func (o *oddBuffers) take(size int) []byte {
	for i := len(o.list) - 1; i >= 0; i-- {
		b := o.list[i]
		if cap(b) < size || cap(b)-size > size/8 {
			continue
		}
		o.list = slices.Delete(o.list, i, i+1)
		o.bytes -= int64(cap(b))
		checkPoison(b)
		return b[:size:size]
	}
	return nil
}

// trim lets go of the oldest until the rest is within the allowance.
func (o *oddBuffers) trim(allowance int64) {
	for o.bytes > allowance {
		o.drop()
	}
}

func (o *oddBuffers) drop() {
	o.bytes -= int64(cap(o.list[0]))
	o.list = slices.Delete(o.list, 0, 1)
}
