//go:build unix

package security_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"linger"
	"linger/test/broker/kafkatest"
)

// A peer that takes the connection and never finishes the TLS handshake, and one that finishes it and is silent from then on,
// are bounded by the setup and request time-outs: the producer tries again, the send ends with max.block.ms, and the close
// keeps its limit (B26).
func TestB26PeersThatFallSilentUnderTLS(t *testing.T) {
	t.Parallel()
	ca, err := kafkatest.NewCA("authority")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(kafkatest.CertificateOptions{Name: "silent", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(cert.Chain, cert.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := &tls.Config{Certificates: []tls.Certificate{pair}}
	for name, play := range map[string]func(net.Conn){
		"it says nothing": func(c net.Conn) { io.Copy(io.Discard, c) },
		"it says half a hello": func(c net.Conn) {
			c.Write([]byte{22, 3, 3, 0, 122, 2, 0})
			io.Copy(io.Discard, c)
		},
		"it says nothing after the handshake": func(c net.Conn) { io.Copy(io.Discard, tls.Server(c, server)) },
		"it reads nothing after the handshake": func(c net.Conn) {
			if tls.Server(c, server).Handshake() == nil {
				_, _ = io.ReadFull(c, make([]byte, 1<<20)) // never decrypted
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := newSilentPeer(t, play)
			p, err := linger.New(linger.ByteArray, linger.ByteArray, linger.BootstrapServers(peer.addr()), linger.WithLogger(logTo(t)),
				linger.SecurityProtocol("SSL"), linger.SSLTruststoreType("PEM"), linger.SSLTruststoreCertificates(string(ca.PEM())),
				linger.SocketConnectionSetupTimeout(300*time.Millisecond), linger.SocketConnectionSetupTimeoutMax(300*time.Millisecond),
				linger.RequestTimeout(300*time.Millisecond), linger.DeliveryTimeout(time.Second), linger.MaxBlock(5*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.SendSync(within(t, soon), record{Topic: "t", Value: make([]byte, 500_000)})
			if !errors.Is(err, linger.ErrTimeout) || errors.Is(err, linger.ErrAuthentication) {
				t.Errorf("%v, want a time-out", err)
			}
			if n := peer.accepted(); n < 2 {
				t.Errorf("%d connections in five seconds, want several: each is given up after 300 ms", n)
			}
			ctx, cancel := context.WithTimeout(t.Context(), soon)
			defer cancel()
			if _, err := p.Shutdown(ctx); err != nil || ctx.Err() != nil {
				t.Error(err, ctx.Err())
			}
		})
	}
}

// silentPeer is a server whose connections are played by a function each.
type silentPeer struct {
	l  net.Listener
	mu sync.Mutex
	n  int
}

func newSilentPeer(t *testing.T, play func(net.Conn)) *silentPeer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	peer := &silentPeer{l: l}
	var all sync.WaitGroup
	var conns []net.Conn
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			peer.mu.Lock()
			peer.n++
			conns = append(conns, conn)
			peer.mu.Unlock()
			all.Go(func() {
				defer conn.Close()
				play(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		peer.mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		peer.mu.Unlock()
		all.Wait()
	})
	return peer
}

func (p *silentPeer) addr() string { return fmt.Sprint(p.l.Addr()) }

func (p *silentPeer) accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}
