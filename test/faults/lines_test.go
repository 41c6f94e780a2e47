package faults

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
)

// driverLine is what the driver prints: an operation, a record's outcome, a state.
type driverLine struct {
	Type      string   `json:"type"`
	I         int      `json:"i"`
	Op        string   `json:"op"`
	P         string   `json:"p"`
	OK        bool     `json:"ok"`
	Ms        int64    `json:"ms"`
	ID        int      `json:"id"`
	Topic     string   `json:"topic"`
	Partition *int32   `json:"partition"`
	Offset    *int64   `json:"offset"`
	Thrown    bool     `json:"thrown"`
	Error     string   `json:"error"`
	Causes    []string `json:"causes"`
	State     string   `json:"state"`
}

// failure is the exception and its causes in one word.
func (l *driverLine) failure() string {
	return strings.Join(append([]string{l.Error}, l.Causes...), "<")
}

// brokerLine is what the scripted broker logs: a request (N counts from 1) or, by Type, the content of a partition ("log")
// or a scenario that did not go as scripted ("problem").
type brokerLine struct {
	Type string `json:"type"`

	N       int    `json:"n"`
	Broker  int32  `json:"broker"`
	API     string `json:"api"`
	Version int    `json:"version"`
	Client  string `json:"client"`
	Did     string `json:"did"`
	Req     struct {
		Acks       int      `json:"acks"`
		Batches    []batch  `json:"batches"`
		KeyType    int      `json:"key_type"`
		Keys       []string `json:"keys"`
		TxnID      *string  `json:"txn_id"`
		PID        *int64   `json:"pid"`
		Epoch      int      `json:"epoch"`
		Commit     bool     `json:"commit"`
		Partitions []string `json:"partitions"`
		Group      string   `json:"group"`
		Offsets    []string `json:"offsets"`
	} `json:"req"`
	Answer struct {
		Parts []struct {
			TP    string `json:"tp"`
			Error string `json:"error"`
		} `json:"parts"`
		Error  string            `json:"error"`
		Errors map[string]string `json:"errors"`
		PID    *int64            `json:"pid"`
		Epoch  int               `json:"epoch"`
	} `json:"answer"`

	TP        string   `json:"tp"`
	All       []string `json:"all"`
	Committed []string `json:"committed"`
}

type batch struct {
	TP    string `json:"tp"`
	PID   *int64 `json:"pid"`
	Epoch int    `json:"epoch"`
	Seq   int    `json:"seq"`
	Count int    `json:"count"`
	Codec string `json:"codec"`
}

// parseLines reads JSON lines and passes over everything else.
func parseLines[T any](text []byte) (lines []T) {
	s := bufio.NewScanner(bytes.NewReader(text))
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var l T
		if bytes.HasPrefix(s.Bytes(), []byte("{")) && json.Unmarshal(s.Bytes(), &l) == nil {
			lines = append(lines, l)
		}
	}
	return lines
}
