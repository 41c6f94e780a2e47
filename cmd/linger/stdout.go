package main

import (
	"fmt"
	"io"
	"sync"
)

// checkedOut is standard output that remembers what went wrong with it. What a command prints is its result: when that is
// lost the command has failed, whoever wrote it.
type checkedOut struct {
	io.Writer
	mu  sync.Mutex
	err error
}

// Write is io.Writer's.
func (o *checkedOut) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err == nil {
		return n, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = fmt.Errorf("standard output: %w", err)
	}
	return n, o.err
}

// lost is the first error, nil when all was written.
func (o *checkedOut) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
