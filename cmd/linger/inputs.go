package main

import (
	"io"
	"os"

	"linger/cmd/linger/produce"
)

// stdinName is how standard input is called on the command line and in errors.
const stdinName = "-"

// inputs finds the files of a command line, so that a slip is noticed before anything is sent.
func inputs(stdin io.Reader, args []string) ([]produce.Input, error) {
	if len(args) == 0 {
		args = []string{stdinName}
	}
	var list []produce.Input
	for _, name := range args {
		in := produce.Input{Name: name, Size: -1, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
		if name == stdinName {
			in.Name, in.Open = "stdin", func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }
			if f, ok := stdin.(*os.File); ok {
				in.Size = regularSize(f.Stat())
			}
			list = append(list, in)
			continue
		}
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, usagef("%w", err)
		case info.IsDir():
			return nil, usagef("%s is a folder; name the files in it", name)
		case info.Mode().IsRegular(): // opening a pipe ahead of time would take its writer by surprise
			f, err := os.Open(name)
			if err != nil {
				return nil, usagef("%w", err)
			}
			f.Close()
		}
		in.Size = regularSize(info, nil)
		list = append(list, in)
	}
	return list, nil
}

// regularSize is the size of a regular file, -1 for a pipe, a terminal and what else has none.
func regularSize(info os.FileInfo, err error) int64 {
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}
