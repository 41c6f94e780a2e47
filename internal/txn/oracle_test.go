package txn

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/internal/kerr"
	"linger/internal/wire"
	"linger/test/oracle"
)

// The shapes of txn-states.json. A field that a kind lacks stays zero.
type stateVector struct {
	ID                 string
	Kind               string
	Mode               string
	Scenario           string
	TransactionVersion int

	From, To string // transition
	Valid    bool

	Text           *string // prepared-state
	ProducerID     int64
	Epoch          int16
	HasTransaction bool
	ToString       string

	State, Thread, Operation string // operation, error-state
	Exception                string
	Error                    json.RawMessage // exceptions; for failed-batch a code's name
	Returned                 json.RawMessage
	After                    *managerState

	Outcome string // response
	Before  *managerState
	Step    *step

	Steps []step // sequence

	Shape              string // failed-batch
	RecordsPerBatch    int32
	LogStartOffset     int64
	TargetBaseSequence int32
	CanRetry           bool
	AfterCanRetry      *batchState
	AfterFail          *batchState
	AfterBump          *batchState
}

type exception struct{ Class, Message string }

type managerState struct {
	State                       string
	LastError                   []exception
	ProducerID                  int64
	ProducerEpoch               int16
	Queue                       []string
	PendingOperation            *string
	NewPartitions               string
	PendingPartitions           string
	Partitions                  string
	TransactionStarted          bool
	ClientSideEpochBumpRequired bool
}

type step struct {
	Call                  string
	Request               *string
	Version               int16
	Data                  *initData
	NeedsCoordinator      *string
	IsRetry               bool
	Outcome               string
	HandlerRetryBackoffMs int64
	HasInFlightRequest    bool
	Error                 []exception
	SendAllowed           *bool
	After                 *managerState
}

type initData struct {
	TransactionalID      *string
	TransactionTimeoutMs int32
	ProducerID           int64
	ProducerEpoch        int16
}

type batchState struct {
	State                       string
	LastError                   *string
	ProducerID                  int64
	ProducerEpoch               int16
	PartitionProducerID         int64
	PartitionEpoch              int16
	NextSequence                int32
	LastAckedSequence           *int32
	HasInflight                 bool
	HasUnresolved               bool
	ClientSideEpochBumpRequired bool
	PartitionsToRewrite         string
	Queue                       []string
	Batches                     []struct {
		ProducerID   int64
		Epoch        int16
		BaseSequence int32
		Reset        bool
	}
}

// Every vector that needs no request of a transaction runs here. Those of transactional producers in the kinds
// operation, sequence and response need the coordinator's requests and are left to that work; the test counts them.
func TestOracleTxnStates(t *testing.T) {
	var set struct{ Cases []stateVector }
	oracle.Load(t, "txn-states.json", &set)
	var mine []stateVector
	later := map[string]int{}
	for _, c := range set.Cases {
		if needsTransactions(c) {
			later[c.Kind]++
			continue
		}
		mine = append(mine, c)
	}
	t.Logf("%d of %d vectors run; left to transactions: %v", len(mine), len(set.Cases), later)
	if len(mine) == 0 {
		t.Skip("every vector of this set is of a transactional producer")
	}
	oracle.Run(t, mine, func(c stateVector) string { return c.ID }, rules(), same)
}

func needsTransactions(c stateVector) bool {
	switch c.Kind {
	case "operation", "sequence":
		return c.Mode != "idempotent"
	case "response":
		return c.Scenario != "InitProducerId(idempotent)"
	}
	return false
}

func rules() []oracle.Rule[stateVector] {
	return []oracle.Rule[stateVector]{{
		Name: "no coordinator without a transactional id",
		Reason: "When any broker answers a plain producer's InitProducerId with a coordinator error, Java looks for the " +
			"coordinator of a null transactional id, which can't even be encoded. Here the request is just tried again.",
		Matches: func(c stateVector) bool {
			return c.Kind == "response" && (c.Outcome == kerr.NotCoordinator.Name() || c.Outcome == kerr.CoordinatorNotAvailable.Name())
		},
		Instead: func(t *testing.T, c stateVector) {
			want := *c.After
			want.Queue = []string{"InitProducerIdHandler"}
			c.After = &want
			sameResponse(t, c)
		},
	}}
}

func same(t *testing.T, c stateVector) {
	switch c.Kind {
	case "transition":
		if got := stateNamed(t, c.From).MayBecome(stateNamed(t, c.To)); got != c.Valid {
			t.Errorf("transition allowed: %v, Java %v", got, c.Valid)
		}
	case "prepared-state":
		samePrepared(t, c)
	case "operation":
		sameOperation(t, c)
	case "sequence":
		sameSequence(t, c)
	case "response":
		sameResponse(t, c)
	case "error-state":
		sameErrorState(t, c)
	case "failed-batch":
		sameFailedBatch(t, c)
	default:
		t.Fatalf("unknown kind %q", c.Kind)
	}
}

func samePrepared(t *testing.T, c stateVector) {
	text := ""
	if c.Text != nil {
		text = *c.Text
	}
	got, err := ParsePrepared(text)
	sameError(t, err, c.Error)
	if err != nil {
		return
	}
	if got.ID != c.ProducerID || got.Epoch != c.Epoch || got.HasTransaction() != c.HasTransaction || got.String() != c.ToString {
		t.Errorf("got %d %d %v %q, Java %d %d %v %q", got.ID, got.Epoch, got.HasTransaction(), got.String(),
			c.ProducerID, c.Epoch, c.HasTransaction, c.ToString)
	}
}

// inState is a manager put into a state from outside, as the vectors were made.
func inState(t *testing.T, c stateVector, transactionalID string) *Manager {
	m := New(Options{TransactionalID: transactionalID, TransactionTimeoutMs: 60000, RetryBackoffMs: 100})
	m.state = stateNamed(t, c.State)
	if m.HasError() {
		m.err = kafkaError("the last error")
	}
	if m.state != Uninitialized && m.state != Initializing {
		m.id = ProducerID{1000, 3}
	}
	m.coordinatorBumpsEpoch = true
	m.version2 = c.TransactionVersion >= 2
	return m
}

func sameOperation(t *testing.T, c stateVector) {
	m := inState(t, c, "")
	m.forApplication = c.Thread == "app"
	var err error
	switch boom := kafkaError("boom"); c.Operation {
	case "initTransactions", "initTransactions(keepPreparedTxn)":
		err = m.Admit(InitTransactions)
	case "beginTransaction":
		err = m.Admit(BeginTransaction)
	case "prepareTransaction":
		err = m.Admit(PrepareTransaction)
	case "commitTransaction":
		err = m.Admit(CommitTransaction)
	case "abortTransaction":
		err = m.Admit(AbortTransaction)
	case "sendOffsetsToTransaction":
		err = m.Admit(SendOffsets)
	case "addPartition":
		err = m.Admit(AddPartition)
	case "transitionToUninitialized":
		err = m.BecomeUninitialized()
	case "transitionToAbortableError":
		err = m.becomeAbortable(boom)
	case "transitionToFatalError":
		m.BecomeFatal(boom)
	case "authenticationFailed":
		m.AuthenticationFailed(boom)
	case "failPendingRequests":
		m.FailPending(boom)
	case "close":
		m.Close()
	case "bumpIdempotentEpochAndResetIdIfNeeded":
		err = m.BumpIfNeeded()
	case "isSendToPartitionAllowed":
		_, why := m.MaySend(new(Partition), new(Stamp))
		sameJSON(t, why != InFatalError && why != NotInTransaction, c.Returned)
	case "predicates":
		sameJSON(t, predicates(m), c.Returned)
	default:
		t.Fatalf("unknown operation %q", c.Operation)
	}
	sameError(t, err, c.Error)
	sameState(t, m, c.After)
}

// predicates are Java's questions to a manager that is idempotent only: those about transactions have one answer.
func predicates(m *Manager) map[string]bool {
	return map[string]bool{
		"hasProducerId": m.HasProducerID(), "isTransactional": m.Transactional(), "isTransactionV2Enabled": m.version2,
		"is2PCEnabled": false, "isCompleting": m.completing(), "hasError": m.HasError(), "isAborting": m.State() == AbortingTransaction,
		"hasFatalError": m.Fatal(), "hasAbortableError": m.State() == AbortableError,
		"hasOngoingTransaction": m.State() == InTransaction || m.completing() || m.State() == AbortableError,
		"isReady":               m.Transactional() && m.State() == Ready, "isInitializing": m.Transactional() && m.State() == Initializing,
		"isPrepared": m.State() == PreparedTransaction, "needToTriggerEpochBumpFromClient": m.bumpsOnClient(),
		"canHandleAbortableError": m.survivesAbort(), "hasPartitionsToAdd": false, "hasPendingOffsetCommits": false,
	}
}

func sameErrorState(t *testing.T, c stateVector) {
	m := inState(t, c, "t")
	sameError(t, m.NoteError(exceptionNamed(t, c.Exception)), c.Error)
	sameState(t, m, c.After)
}

func sameResponse(t *testing.T, c stateVector) {
	m := New(Options{RetryBackoffMs: 100})
	if err := m.BumpIfNeeded(); err != nil {
		t.Fatal(err)
	}
	sameState(t, m, c.Before)
	c.Step.Outcome = c.Outcome
	answer(t, m, c.Step)
	sameState(t, m, c.After)
}

func sameSequence(t *testing.T, c stateVector) {
	m := New(Options{RetryBackoffMs: 100})
	for i := range c.Steps {
		s := &c.Steps[i]
		call, _, _ := strings.Cut(s.Call, ":")
		var err error
		switch call {
		case "bump":
			err = m.BumpIfNeeded()
		case "answer":
			answer(t, m, s)
		case "fatal-error":
			m.BecomeFatal(kafkaError("boom"))
		case "abortable-error":
			err = m.becomeAbortable(kafkaError("boom"))
		case "add":
			err = m.Admit(AddPartition)
		case "initTransactions":
			err = m.Admit(InitTransactions)
		case "beginTransaction":
			err = m.Admit(BeginTransaction)
		case "prepareTransaction":
			err = m.Admit(PrepareTransaction)
		case "commitTransaction":
			err = m.Admit(CommitTransaction)
		case "abortTransaction":
			err = m.Admit(AbortTransaction)
		case "sendOffsets":
			err = m.Admit(SendOffsets)
		case "close":
			m.Close()
		case "allowed":
			_, why := m.MaySend(new(Partition), new(Stamp))
			if got := why != InFatalError; s.SendAllowed != nil && got != *s.SendAllowed {
				t.Errorf("step %d: send allowed %v, Java %v", i, got, *s.SendAllowed)
			}
		default:
			t.Fatalf("step %d: unknown call %q", i, s.Call)
		}
		if diff := cmp.Diff(simpleChain(s.Error), javaChain(err)); diff != "" {
			t.Errorf("step %d %s: error (-Java +got)\n%s", i, s.Call, diff)
		}
		sameState(t, m, s.After)
	}
}

// answer takes the next request from the manager and answers it as the step says.
func answer(t *testing.T, m *Manager, s *step) {
	t.Helper()
	r := m.Next()
	if r == nil || s.Request == nil {
		if (r == nil) != (s.Request == nil) {
			t.Fatalf("next request is %v, Java %v", r, s.Request)
		}
		return
	}
	r.Message.SetVersion(s.Version)
	q := r.Message.(*wire.InitProducerIDRequest)
	if got := (initData{q.TransactionalID, q.TransactionTimeoutMs, q.ProducerID, q.ProducerEpoch}); !cmp.Equal(&got, s.Data) {
		t.Errorf("request %+v, Java %+v", got, s.Data)
	}
	if r.Coordinator != AnyNode || s.NeedsCoordinator != nil || r.Retry != s.IsRetry || r.BackoffMs != s.HandlerRetryBackoffMs {
		t.Errorf("request needs %v, retry %v, backs off %d ms; Java %v %v %d", r.Coordinator, r.Retry, r.BackoffMs,
			s.NeedsCoordinator, s.IsRetry, s.HandlerRetryBackoffMs)
	}
	switch s.Outcome {
	case "DISCONNECT", "TIMEOUT":
		m.Disconnected(r)
	case "VERSION_MISMATCH":
		m.VersionMismatch(r, &kerr.Error{Code: kerr.UnsupportedVersion, Msg: "no such version"})
	case "AUTHENTICATION":
		m.Unanswerable(r)
	default:
		resp := &wire.InitProducerIDResponse{ErrorCode: int16(codeNamed(t, s.Outcome)), ProducerID: -1, ProducerEpoch: -1}
		if s.Outcome == "NONE" {
			resp.ProducerID, resp.ProducerEpoch = 1000, 4
		}
		if err := m.Answered(r, resp); err != nil {
			t.Errorf("answered: %v", err)
		}
	}
	if m.RequestOut() != s.HasInFlightRequest {
		t.Errorf("request out afterwards: %v, Java %v", m.RequestOut(), s.HasInFlightRequest)
	}
}

func sameState(t *testing.T, m *Manager, want *managerState) {
	t.Helper()
	got := &managerState{
		State: m.State().String(), LastError: javaChain(m.LastError()), ProducerID: m.ProducerID().ID, ProducerEpoch: m.ProducerID().Epoch,
		Queue: []string{}, NewPartitions: "[]", PendingPartitions: "[]", Partitions: "[]", ClientSideEpochBumpRequired: m.bumpWanted,
	}
	for _, r := range m.pending {
		got.Queue = append(got.Queue, map[Priority]string{InitProducerID: "InitProducerIdHandler"}[r.Priority])
	}
	if diff := cmp.Diff(simple(want), got); diff != "" {
		t.Errorf("state (-Java +got)\n%s", diff)
	}
}

func simple(want *managerState) *managerState {
	w := *want
	w.LastError = simpleChain(w.LastError)
	return &w
}

func sameFailedBatch(t *testing.T, c stateVector) {
	id := ""
	if c.Mode != "idempotent" {
		id = "t"
	}
	m := New(Options{TransactionalID: id, RetryBackoffMs: 100})
	m.coordinatorBumpsEpoch, m.version2 = true, c.Mode == "txn-v2"
	m.state, m.id = Ready, ProducerID{1000, 3}
	if id != "" {
		m.state = InTransaction
	}
	p := new(Partition)
	batches := make([]*Stamp, 0, 2)
	drain := func() *Stamp {
		s := &Stamp{Count: c.RecordsPerBatch}
		m.Assign(p, s)
		batches = append(batches, s)
		return s
	}
	target := drain()
	switch c.Shape {
	case "only":
	case "first-of-two":
		drain()
	case "second-of-two":
		target = drain()
	case "after-acked":
		m.HandleCompleted(p, target, 500)
		target = drain()
	case "sequence-reset":
		p.restart(m.id)
	default:
		t.Fatalf("unknown shape %q", c.Shape)
	}
	if target.BaseSequence != c.TargetBaseSequence {
		t.Fatalf("the target starts at %d, Java %d", target.BaseSequence, c.TargetBaseSequence)
	}
	var name string
	if err := json.Unmarshal(c.Error, &name); err != nil {
		t.Fatal(err)
	}
	code := codeNamed(t, name)
	if got := m.CanRetry(p, target, code, c.LogStartOffset); got != c.CanRetry {
		t.Errorf("can retry %v, Java %v", got, c.CanRetry)
	}
	sameBatches(t, "after canRetry", m, p, batches, c.AfterCanRetry)
	if err := m.HandleFailed(p, target, &kerr.Error{Op: "send", Code: code}, true); err != nil {
		t.Error(err)
	}
	sameBatches(t, "after failing", m, p, batches, c.AfterFail)
	if err := m.BumpIfNeeded(); err != nil {
		t.Error(err)
	}
	sameBatches(t, "after the bump", m, p, batches, c.AfterBump)
}

func sameBatches(t *testing.T, when string, m *Manager, p *Partition, batches []*Stamp, want *batchState) {
	t.Helper()
	w := *want
	got := batchState{
		State: m.State().String(), ProducerID: m.id.ID, ProducerEpoch: m.id.Epoch,
		PartitionProducerID: p.ProducerID().ID, PartitionEpoch: p.ProducerID().Epoch, NextSequence: p.NextSequence(),
		HasInflight: p.InFlight() > 0, HasUnresolved: p.Unresolved(), ClientSideEpochBumpRequired: m.bumpWanted,
		PartitionsToRewrite: "[]", Queue: []string{},
	}
	if err := m.LastError(); err != nil {
		name := kerr.JavaName(err)
		got.LastError = &name
	}
	if w.LastError != nil {
		name := simpleName(*w.LastError)
		w.LastError = &name
	}
	if last, ok := p.LastAckedSequence(); ok {
		got.LastAckedSequence = &last
	}
	if len(m.rewrite) > 0 {
		got.PartitionsToRewrite = "[t-0]"
	}
	for range m.pending {
		got.Queue = append(got.Queue, "InitProducerIdHandler")
	}
	for _, s := range batches {
		got.Batches = append(got.Batches, struct {
			ProducerID   int64
			Epoch        int16
			BaseSequence int32
			Reset        bool
		}{s.ProducerID, s.Epoch, s.BaseSequence, s.Rewritten})
	}
	if diff := cmp.Diff(w, got); diff != "" {
		t.Errorf("%s (-Java +got)\n%s", when, diff)
	}
}
