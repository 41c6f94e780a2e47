//go:build unix

package kafkatest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports are taken from below the range that systems hand to outgoing connections (32768 and up on Linux, 49152 elsewhere).
// A stopped node must find its port free when it starts again; one from that range could meanwhile belong to any client's
// socket on the machine.
const (
	firstPort = 15000
	lastPort  = 31999
)

// freePorts returns n different loopback ports that nobody listened on a moment ago. Another process may still come
// first; Start then tries again with others.
func freePorts(n int) ([]int, error) {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			l.Close() // nothing was accepted
		}
	}()
	var found []int
	for tries := 0; len(found) < n && tries < 1000; tries++ {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		held, found = append(held, l), append(found, port)
	}
	if len(found) < n {
		return nil, errors.New("kafkatest: no free loopback ports")
	}
	return found, nil
}
