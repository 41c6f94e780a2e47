package txn

import "strconv"

// State is where the transaction machine stands. A producer that is idempotent only uses Uninitialized, Initializing,
// Ready and the two error states.
type State uint8

const (
	Uninitialized State = iota
	Initializing
	Ready
	InTransaction
	PreparedTransaction
	CommittingTransaction
	AbortingTransaction
	AbortableError
	FatalError
)

const stateCount = 9

// String is Java's name of the state.
func (s State) String() string {
	names := [stateCount]string{
		"UNINITIALIZED", "INITIALIZING", "READY", "IN_TRANSACTION", "PREPARED_TRANSACTION",
		"COMMITTING_TRANSACTION", "ABORTING_TRANSACTION", "ABORTABLE_ERROR", "FATAL_ERROR",
	}
	if int(s) < len(names) {
		return names[s]
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}

// Word is the state in one word, as reports and logs have it.
func (s State) Word() string {
	words := [stateCount]string{
		"uninitialized", "initializing", "ready", "in_transaction", "prepared", "committing", "aborting", "abortable", "fatal",
	}
	if int(s) < len(words) {
		return words[s]
	}
	return "?"
}

// from lists the states that s may be entered from, as bits. It is the whole table of legal transitions
// (Java: TransactionManager.State.isTransitionValid).
//
//	UNINITIALIZED ─► INITIALIZING ─► READY ─► IN_TRANSACTION ─► COMMITTING ─► READY (or INITIALIZING: epoch bump)
//	                                              │   └► PREPARED ─► COMMITTING or ABORTING
//	                                              └────► ABORTING ─► READY (or INITIALIZING: epoch bump)
//	IN_TRANSACTION, COMMITTING, INITIALIZING ─► ABORTABLE_ERROR ─► ABORTING or UNINITIALIZED
//	anything ─► FATAL_ERROR, and nothing leads out of it
func (s State) from() uint16 {
	switch s {
	case Uninitialized:
		return bits(Ready, AbortableError)
	case Initializing:
		return bits(Uninitialized, CommittingTransaction, AbortingTransaction)
	case Ready:
		return bits(Initializing, CommittingTransaction, AbortingTransaction)
	case InTransaction:
		return bits(Ready)
	case PreparedTransaction:
		return bits(InTransaction, Initializing)
	case CommittingTransaction:
		return bits(InTransaction, PreparedTransaction)
	case AbortingTransaction:
		return bits(InTransaction, PreparedTransaction, AbortableError)
	case AbortableError:
		return bits(InTransaction, CommittingTransaction, AbortableError, Initializing)
	default: // FatalError
		return 1<<stateCount - 1
	}
}

func bits(states ...State) (set uint16) {
	for _, s := range states {
		set |= 1 << s
	}
	return set
}

// MayBecome reports whether the machine may go from s to target.
func (s State) MayBecome(target State) bool { return target.from()&(1<<s) != 0 }
