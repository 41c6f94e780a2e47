package txn

import (
	"fmt"
	"strconv"
	"strings"

	"linger/internal/kerr"
)

// Prepared names a prepared transaction so that it can be finished after a crash (KIP-939; in Java: PreparedTxnState).
// Its zero value is not "none": use NoProducer().
type Prepared ProducerID

// HasTransaction reports whether there is a transaction to finish.
func (p Prepared) HasTransaction() bool { return ProducerID(p).Valid() }

// String is "id:epoch", empty for none.
func (p Prepared) String() string {
	if !p.HasTransaction() {
		return ""
	}
	return strconv.FormatInt(p.ID, 10) + ":" + strconv.Itoa(int(p.Epoch))
}

// ParsePrepared reads what String wrote. Anything else is a kerr.ErrIllegalArgument.
func ParsePrepared(text string) (Prepared, error) {
	if text == "" {
		return Prepared(NoProducer()), nil
	}
	// Java's split drops empty pieces at the end: "1:2:" has two, "1:" has one.
	pieces := strings.Split(strings.TrimRight(text, ":"), ":")
	if len(pieces) != 2 {
		return Prepared{}, badPrepared(text, nil)
	}
	idText, epochText := pieces[0], pieces[1]
	id, err := strconv.ParseInt(idText, 10, 64)
	if err != nil {
		return Prepared{}, badPrepared(text, err)
	}
	epoch, err := strconv.ParseInt(epochText, 10, 16)
	if err != nil {
		return Prepared{}, badPrepared(text, err)
	}
	if id < 0 || epoch < 0 {
		return Prepared{}, &kerr.Error{
			Msg: fmt.Sprintf("Invalid producer ID and epoch values: %d:%d. Both must be >= 0", id, epoch), Err: kerr.ErrIllegalArgument,
		}
	}
	return Prepared{id, int16(epoch)}, nil
}

func badPrepared(text string, cause error) error {
	err := &kerr.Error{Msg: "Invalid serialized transaction state format: " + text, Err: kerr.ErrIllegalArgument}
	if cause != nil {
		err.Err = fmt.Errorf("%w: %w", kerr.ErrIllegalArgument, cause)
	}
	return err
}
