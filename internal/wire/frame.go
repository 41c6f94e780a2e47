package wire

// Frame is one request ready for a vectored write, built without copying records. It is not safe for use by several
// goroutines; it is meant to be used again and again.
//
// The slices in Vec are the frame's own head and the chunks that were given to AppendProduce. Whoever writes them may
// consume Vec, as net.Buffers does: a written frame is spent, and is Reset before it is built anew.
type Frame struct {
	// Head holds every byte that is no record byte: length prefix, header, fields and the batch headers.
	Head []byte
	// Vec is the whole request in the order of the wire, length prefix included.
	Vec [][]byte
	// Size is the number of bytes in Vec as built, length prefix included.
	Size int

	from int // where in Head the bytes begin that Vec does not show yet
}

// Reset empties the frame and keeps its memory. It lets go of the chunks. It must not be called while anybody may
// still read Vec.
func (f *Frame) Reset() {
	clear(f.Vec[:cap(f.Vec)])
	f.Head, f.Vec, f.Size, f.from = f.Head[:0], f.Vec[:0], 0, 0
}

// chunk puts b into Vec, behind the head bytes written so far.
func (f *Frame) chunk(b []byte) {
	if len(b) == 0 {
		return
	}
	f.flush()
	f.Vec = append(f.Vec, b)
	f.Size += len(b)
}

// flush shows the head bytes written so far in Vec.
func (f *Frame) flush() {
	if n := len(f.Head) - f.from; n > 0 {
		f.Vec = append(f.Vec, f.Head[f.from:len(f.Head):len(f.Head)])
		f.Size += n
		f.from = len(f.Head)
	}
}
