package broker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Command runs one control command:
//
//	stop N | start N | hang N | unhang N | disconnect N   (N a node, or all)
//	move TOPIC PARTITION NODE | rehash | release NAME | sleep MS | dump
func (s *Server) Command(line string) error {
	words := strings.Fields(line)
	if len(words) == 0 {
		return errors.New("empty command")
	}
	name, args := words[0], arguments(words[1:])
	switch name {
	case "stop":
		return s.each(args, func(n *node) error { n.down(); return nil })
	case "start":
		return s.each(args, func(n *node) error { return n.up() })
	case "disconnect":
		return s.each(args, func(n *node) error { n.disconnect(); return nil })
	case "hang", "unhang":
		return s.each(args, func(n *node) error { n.hang(name == "hang"); return nil })
	case "move":
		return s.move(args)
	case "rehash":
		s.cluster.RehashCoordinators()
		return nil
	case "release":
		return s.releaseNamed(args)
	case "sleep":
		ms, err := args.number(0)
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(ms) * time.Millisecond)
		return nil
	case "dump":
		return s.dump()
	}
	return fmt.Errorf("unknown command %q", name)
}

// arguments are what follows a command's name.
type arguments []string

func (a arguments) text(i int) (string, error) {
	if i >= len(a) {
		return "", fmt.Errorf("argument %d is missing", i+1)
	}
	return a[i], nil
}

func (a arguments) number(i int) (int32, error) {
	text, err := a.text(i)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err
}

// each does it to the node that the first argument names, or to all.
func (s *Server) each(a arguments, do func(*node) error) error {
	if len(a) > 0 && a[0] == "all" {
		for _, n := range s.nodes {
			if err := do(n); err != nil {
				return err
			}
		}
		return nil
	}
	i, err := a.number(0)
	if err != nil || i < 0 || int(i) >= len(s.nodes) {
		return fmt.Errorf("no node in %q", strings.Join(a, " "))
	}
	return do(s.nodes[i])
}

func (n *node) hang(hung bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hung = hung
}

func (s *Server) move(a arguments) error {
	topic, err := a.text(0)
	if err != nil {
		return err
	}
	partition, err := a.number(1)
	if err != nil {
		return err
	}
	to, err := a.number(2)
	if err != nil {
		return err
	}
	return s.cluster.MoveTopicPartition(topic, partition, to)
}

// releaseNamed lets go what is held until that name; a second time changes nothing.
func (s *Server) releaseNamed(a arguments) error {
	name, err := a.text(0)
	if err != nil {
		return err
	}
	ch := s.release(name)
	select {
	case <-ch:
	default:
		close(ch)
	}
	return nil
}
