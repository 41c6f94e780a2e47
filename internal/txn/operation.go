package txn

// Operation is a transactional call of the application's.
type Operation uint8

const (
	InitTransactions Operation = iota
	BeginTransaction
	PrepareTransaction
	CommitTransaction
	AbortTransaction
	SendOffsets
	AddPartition // each send
)

// Admit is the first question of every transactional call: nil, or why it is refused. Sends of a producer that is only
// idempotent pass, its transactional calls never do.
func (m *Manager) Admit(op Operation) error {
	if op == InitTransactions || op == AddPartition {
		// These two look at the error state before they ask what kind of producer this is.
		if err := m.refuse(); err != nil {
			return err
		}
	}
	if !m.Transactional() && op != AddPartition {
		return illegalState("Transactional method invoked on a non-transactional producer.")
	}
	return nil
}
