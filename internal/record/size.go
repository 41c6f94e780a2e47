package record

const (
	// BatchOverhead is the size of a batch's header in bytes.
	BatchOverhead = 61
	// MaxRecordOverhead is the most a record takes besides key, value and headers with their own lengths: five bytes of
	// length, one of attributes, ten of timestamp delta, five of offset delta.
	MaxRecordOverhead = 21
)

// UpperBound is the most bytes a batch of this one record can take, header included; the limits of a record's size and
// of the memory a new batch needs are checked against it. keyLen and valueLen are -1 for null. headersLen is the length
// of the encoded headers with their count (AppendHeaders); 1 or 0 for none. Compression isn't taken into account.
func UpperBound(keyLen, valueLen, headersLen int) int {
	return BatchOverhead + MaxRecordOverhead + fieldLen(keyLen) + fieldLen(valueLen) + max(headersLen, 1)
}

// fieldLen is the size of a key, value or header value with its own length in front; n is -1 for null, which takes the
// one byte of -1.
func fieldLen(n int) int {
	return varintLen(int64(n)) + max(n, 0)
}

// nullableLen is len(b), -1 for nil: Kafka's null.
func nullableLen(b []byte) int {
	if b == nil {
		return -1
	}
	return len(b)
}
