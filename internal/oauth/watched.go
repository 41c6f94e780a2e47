package oauth

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// maxFile is how much of a file is read: a token, a key or a template is far smaller.
const maxFile = 1 << 20

// watched is a file and what it says; it is read anew when its modification time or size has changed. It is safe for
// concurrent use.
type watched[T any] struct {
	path string
	read func(text []byte) (T, error)

	mu       sync.Mutex
	value    T
	have     bool
	modified time.Time
	size     int64
}

// get is what the file says now. It names the file in errors, and nothing of what stands in it.
func (w *watched[T]) get() (T, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var none T
	info, err := os.Stat(w.path)
	if err != nil {
		return none, err
	}
	if w.have && info.ModTime().Equal(w.modified) && info.Size() == w.size {
		return w.value, nil
	}
	f, err := os.Open(w.path)
	if err != nil {
		return none, err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return none, err
	}
	if len(text) > maxFile {
		return none, fmt.Errorf("file %s has more than %d bytes", w.path, maxFile)
	}
	value, err := w.read(text)
	if err != nil {
		return none, fmt.Errorf("file %s: %w", w.path, err)
	}
	w.value, w.have, w.modified, w.size = value, true, info.ModTime(), info.Size()
	return value, nil
}
