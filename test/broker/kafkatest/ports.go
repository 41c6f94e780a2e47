//go:build unix

package kafkatest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Ports are taken from below the range that systems hand to outgoing connections (32768 and up on Linux, 49152 elsewhere).
// A stopped node must find its port free when it starts again; one from that range could meanwhile belong to any client's
// socket on the machine.
const (
	firstPort = 15000
	lastPort  = 31999
)

// reserved are loopback ports that nobody listens on yet and no other test binary of this user takes meanwhile: a node needs
// seconds until it listens, and one that was stopped comes back to its port. Each is a locked file named for it in the cache;
// the system gives the locks back when the process dies.
type reserved struct {
	ports []int
	files []*os.File
}

// reservePorts finds n different ones. Somebody else's program may still come first; Start then tries again with others.
func reservePorts(n int) (*reserved, error) {
	dir := filepath.Join(cacheDir(), "ports")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	r := new(reserved)
	for tries := 0; len(r.ports) < n && tries < 1000; tries++ {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		f := lockPort(filepath.Join(dir, strconv.Itoa(port)))
		if f == nil {
			continue
		}
		r.files = append(r.files, f)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue // the lock goes with the others
		}
		l.Close() // nothing was accepted
		r.ports = append(r.ports, port)
	}
	if len(r.ports) < n {
		r.release()
		return nil, errors.New("kafkatest: no free loopback ports")
	}
	return r, nil
}

// lockPort locks the file of a port, nil if somebody else has it. Who lets go removes the file, so a lock counts only while the
// file is still the one of that name.
func lockPort(name string) *os.File {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		mine, err := f.Stat()
		named, err2 := os.Stat(name)
		if errors.Join(err, err2) == nil && os.SameFile(mine, named) {
			return f
		}
	}
	f.Close() // gives the lock back
	return nil
}

// release lets others have the ports. Releasing twice does nothing more.
func (r *reserved) release() {
	for _, f := range r.files {
		os.Remove(f.Name()) // one that stays is taken over by the next who asks
		f.Close()
	}
	r.files = nil
}
