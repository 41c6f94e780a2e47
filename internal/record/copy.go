package record

// Copy reads r to its end and appends to dst each record that keep wants, encoded anew: deltas count from dst's own first
// record. i is the record's place in r, from 0. A batch is split by two Copies over parts of it, and a record is
// cancelled by one that leaves it out.
//
// When dst needs memory, more is asked for a chunk of at least one byte, size being what the record at hand takes; a nil
// or empty chunk ends the copy with ok false. So does dst being closed.
func Copy(dst *Builder, r *Reader, keep func(i int) bool, more func(size int) []byte) (ok bool, err error) {
	var rec Record
	for i := 0; r.Next(&rec); i++ {
		if !keep(i) {
			continue
		}
		for {
			start := dst.Append(rec.Timestamp, rec.Key, rec.Value, rec.Headers)
			if start >= 0 {
				break
			}
			if start == NoRoom {
				return false, r.Err()
			}
			chunk := more(dst.RecordSize(rec.Timestamp, nullableLen(rec.Key), nullableLen(rec.Value), len(rec.Headers)))
			if len(chunk) == 0 {
				return false, r.Err()
			}
			dst.AddChunk(chunk)
		}
	}
	return r.Err() == nil, r.Err()
}
