package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// MaxLine bounds a line in bytes, so that a file without line ends can't take all memory. Kafka's own limit for a record
// is 1 MiB unless it is raised.
const MaxLine = 64 << 20

// Reader reads the records of one file. It is for one goroutine.
type Reader struct {
	file      string
	in        *bufio.Reader
	format    Format
	separator []byte
	line      int
	long      []byte // a line that did not fit into in's buffer
	limit     int
	read      int64
	parser    jsonParser
}

// NewReader reads from r; file is its name in errors. separator is for KeyValue and must not be empty there.
func NewReader(file string, r io.Reader, format Format, separator string) *Reader {
	return &Reader{file: file, in: bufio.NewReaderSize(r, 64<<10), format: format, separator: []byte(separator), limit: MaxLine}
}

// Line is the line that was read last, from 1.
func (r *Reader) Line() int { return r.line }

// BytesRead counts the input's bytes so far, line ends included.
func (r *Reader) BytesRead() int64 { return r.read }

// Next is the next record, io.EOF at the end, a *BadLine for a line that makes none, or what reading failed with. An
// input that does not end with a line end has a last line all the same. Lines end in LF or CR LF.
func (r *Reader) Next() (Record, error) {
	for {
		line, err := r.nextLine()
		if err != nil {
			return Record{}, err
		}
		if r.format == JSON && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		rec := Record{Partition: AnyPartition, Line: r.line}
		if err := r.parse(line, &rec); err != nil {
			return Record{}, r.bad(err)
		}
		return rec, nil
	}
}

func (r *Reader) bad(err error) error {
	return &BadLine{File: r.file, Line: r.line, Reason: err.Error()}
}

func (r *Reader) parse(line []byte, rec *Record) error {
	switch r.format {
	case KeyValue:
		key, value, found := bytes.Cut(line, r.separator)
		if !found {
			return fmt.Errorf("no separator %s; a line is key, separator, value (see --key-separator)", strconv.Quote(string(r.separator)))
		}
		rec.Key, rec.Value = notNull(key), notNull(value)
		return nil
	case JSON:
		return r.parser.parse(line, rec)
	}
	rec.Value = notNull(line)
	return nil
}

// notNull keeps an empty text apart from Kafka's null.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// nextLine is the next line without its end. The slice is good until the next call.
func (r *Reader) nextLine() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	r.read += int64(len(line))
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.longLine(line)
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	if err != nil && !isBad(err) {
		return nil, err
	}
	r.line++
	if err != nil {
		return nil, r.bad(err)
	}
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), nil
}

// errTooLong is the one thing that can be wrong with a line of any format.
type errTooLong struct{ limit int }

func (e errTooLong) Error() string {
	return fmt.Sprintf("the line is longer than %d bytes, which is the most that is read", e.limit)
}

func isBad(err error) bool {
	var tooLong errTooLong
	return errors.As(err, &tooLong)
}

// longLine reads on where the buffer ended; of a line beyond the limit it reads the rest away.
func (r *Reader) longLine(start []byte) (line []byte, err error) {
	r.long = append(r.long[:0], start...)
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		r.read += int64(len(part))
		if tooLong = tooLong || len(r.long)+len(part) > r.limit; !tooLong {
			r.long = append(r.long, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			r.long = nil
			return nil, errTooLong{r.limit}
		default:
			return r.long, err
		}
	}
}
