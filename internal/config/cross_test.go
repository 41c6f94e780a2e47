package config

import (
	"math"
	"testing"
)

const (
	errRetries  = "Must set retries to non-zero when using the idempotent producer."
	errAcks     = "Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence."
	errInFlight = "To use the idempotent producer, max.in.flight.requests.per.connection must be set to at most 5. " +
		"Current value is 6."
	errTransaction = "Cannot set a transactional.id without also enabling idempotence."
	errDelivery    = "delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms"
	errTwoPhase    = "Cannot set transaction.timeout.ms when transaction.two.phase.commit.enable is set to true. " +
		"Transactions will not expire with two-phase commit enabled."
)

// IDEM-15
func TestWhatContradictsIdempotenceThatWasAskedForIsAnError(t *testing.T) {
	refuse(t, errRetries, "enable.idempotence=true", "retries=0") // CFG-25
	refuse(t, errAcks, "enable.idempotence=true", "acks=0")       // CFG-27
	refuse(t, errAcks, "enable.idempotence=true", "acks=1")       // CFG-27
	refuse(t, errInFlight, "enable.idempotence=true",             // CFG-29
		"max.in.flight.requests.per.connection=6")
}

// CFG-26, CFG-28, CFG-30: idempotence that nobody asked for gives way, with a line, and reads back false.
func TestWhatContradictsIdempotenceByDefaultSwitchesItOff(t *testing.T) {
	for set, line := range map[string]string{
		"retries=0": "Idempotence will be disabled because retries is set to 0.",
		"acks=0":    "Idempotence will be disabled because acks is set to 0, not set to 'all'.",
		"acks=1":    "Idempotence will be disabled because acks is set to 1, not set to 'all'.",
	} {
		c := accept(t, set)
		if c.EnableIdempotence || find(t, c, enableIdempotence).Value != "false" {
			t.Errorf("%s: idempotence is still on", set)
		}
		if len(c.Lines) == 0 || c.Lines[0].Text != line {
			t.Errorf("%s: lines %v, want %q", set, c.Lines, line)
		}
	}
}

// CFG-29
func TestTooManyInFlightIsAnErrorUnlessIdempotenceIsOffByName(t *testing.T) {
	const six = "max.in.flight.requests.per.connection=6"
	refuse(t, errInFlight, six)
	refuse(t, errInFlight, six, "retries=0")
	refuse(t, errInFlight, six, "acks=1")
	if c := accept(t, six, "enable.idempotence=false"); c.MaxInFlight != 6 {
		t.Errorf("%d in flight", c.MaxInFlight)
	}
}

// CFG-31, CFG-32
func TestAProducerIsReliableWithoutTuning(t *testing.T) {
	for _, set := range [][]string{nil, {"enable.idempotence=true"}} {
		c := accept(t, set...)
		if !c.EnableIdempotence || c.Acks != -1 || c.Retries != math.MaxInt32 || c.MaxInFlight != 5 {
			t.Errorf("%v: %+v", set, c.Values)
		}
	}
}

// CFG-43, CFG-46
func TestATransactionalIDNeedsIdempotence(t *testing.T) {
	if c := accept(t, "transactional.id=t"); !c.HasTransactionalID || c.TransactionalID != "t" || !c.EnableIdempotence {
		t.Errorf("%+v", c.Values)
	}
	refuse(t, errTransaction, "transactional.id=t", "enable.idempotence=false")
	refuse(t, errTransaction, "transactional.id=t", "acks=1")
	refuse(t, errTransaction, "transactional.id=t", "retries=0")
	refuse(t, "Invalid value  for configuration transactional.id: String must be non-empty", "transactional.id= ")
}

// CFG-45, CFG-47
func TestTwoPhaseCommitForbidsATransactionTimeout(t *testing.T) {
	if c := accept(t, "transaction.two.phase.commit.enable=true", "transactional.id=t"); !c.TwoPhaseCommit {
		t.Error("two-phase commit is off")
	}
	refuse(t, errTwoPhase, "transaction.two.phase.commit.enable=true", "transactional.id=t", "transaction.timeout.ms=1000")
	refuse(t, errTwoPhase, "transaction.two.phase.commit.enable=true", "transaction.timeout.ms=60000")
	accept(t, "transaction.two.phase.commit.enable=false", "transaction.timeout.ms=60000")
}

// CFG-22, CFG-23, TMO-09
func TestADeliveryTimeoutThatWasSetMustFitLingerAndOneRequest(t *testing.T) {
	accept(t, "delivery.timeout.ms=30005")
	refuse(t, errDelivery, "delivery.timeout.ms=30004")
	refuse(t, errDelivery, "delivery.timeout.ms=120000", "request.timeout.ms=119996")
	accept(t, "delivery.timeout.ms=0", "linger.ms=0", "request.timeout.ms=0")
}

// CFG-07, CFG-24; B30
func TestADeliveryTimeoutLeftAloneIsRaised(t *testing.T) {
	tests := map[string]struct {
		set  []string
		want int64
	}{
		"to the sum":               {[]string{"linger.ms=100000"}, 130000},
		"by a longer request":      {[]string{"request.timeout.ms=200000"}, 200005},
		"to the largest, linger":   {[]string{"linger.ms=9223372036854775807"}, math.MaxInt32},
		"to the largest, requests": {[]string{"request.timeout.ms=2147483647"}, math.MaxInt32},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := accept(t, tt.set...)
			if c.DeliveryTimeoutMs != tt.want {
				t.Errorf("%d, want %d", c.DeliveryTimeoutMs, tt.want)
			}
			wantWarning(t, c, errDelivery+". Setting it to "+show(tt.want)+".")
			if e := find(t, c, deliveryTimeout); e.Adjusted == "" || e.Source != "" {
				t.Errorf("origin %q", e.Origin())
			}
		})
	}
	if c := accept(t, "linger.ms=9223372036854775807"); c.LingerMs != math.MaxInt32 {
		t.Errorf("linger %d", c.LingerMs)
	}
	if c := accept(t, "linger.ms=89999"); c.DeliveryTimeoutMs != 120000 || len(c.Warnings()) > 0 {
		t.Errorf("raised without need: %d %q", c.DeliveryTimeoutMs, c.Warnings())
	}
}

// CFG-20 (the warning), CFG-52 (the warning)
func TestAFirstWaitAboveTheLongestIsWarnedOf(t *testing.T) {
	wantWarning(t, accept(t, "retry.backoff.ms=1001"), "Configuration 'retry.backoff.ms' with value '1001' is greater "+
		"than configuration 'retry.backoff.max.ms' with value '1000'. A static backoff with value '1000' will be applied.")
	wantWarning(t, accept(t, "socket.connection.setup.timeout.ms=30001"),
		"A static connection setup timeout with value '30000' will be applied.")
	if c := accept(t, "retry.backoff.ms=1000"); len(c.Warnings()) > 0 {
		t.Errorf("warned of equal waits: %q", c.Warnings())
	}
}

// CFG-54
func TestReconnectBackoffSetAloneDoesNotGrow(t *testing.T) {
	c := accept(t, "reconnect.backoff.ms=2000")
	if c.ReconnectBackoffMs != 2000 || c.ReconnectBackoffMaxMs != 2000 {
		t.Errorf("%d to %d", c.ReconnectBackoffMs, c.ReconnectBackoffMaxMs)
	}
	wantWarning(t, c, "Disabling exponential reconnect backoff because reconnect.backoff.ms is set, but "+
		"reconnect.backoff.max.ms is not.")
	c = accept(t, "reconnect.backoff.ms=2000", "reconnect.backoff.max.ms=1000")
	if c.ReconnectBackoffMaxMs != 1000 || len(c.Warnings()) > 0 {
		t.Errorf("%d %q", c.ReconnectBackoffMaxMs, c.Warnings())
	}
}

// CFG-37
func TestACustomPartitionerSwitchesAdaptivePartitioningOff(t *testing.T) {
	c := accept(t, "partitioner.class=p", "partitioner.adaptive.partitioning.enable=true",
		"partitioner.availability.timeout.ms=50")
	if c.Adaptive || c.PartitionerClass != "p" {
		t.Errorf("%+v", c.Values)
	}
	c, err := Parse(append(given(), Setting{Key: partitionerClass, Value: Instance("an object"), Source: "New"}))
	if err != nil || c.Adaptive || c.PartitionerClass != "an object" {
		t.Errorf("%+v %v", c, err)
	}
}

// CFG-73
func TestRackAwarenessNeedsARack(t *testing.T) {
	const want = "client.rack must be provided if partitioner.rack.aware is enabled"
	refuse(t, want, "partitioner.rack.aware=true")
	refuse(t, want, "partitioner.rack.aware=true", "client.rack= ")
	if c := accept(t, "partitioner.rack.aware=true", "client.rack=r"); !c.RackAware || c.ClientRack != "r" {
		t.Errorf("%+v", c.Values)
	}
}

// CFG-06, CFG-73
func TestMemoryIsTakenInChunksOnlyWhereChunksFit(t *testing.T) {
	if c := accept(t, "batch.size=0"); c.BatchSize != 1 || find(t, c, batchSize).Adjusted == "" {
		t.Errorf("batch.size 0 became %d", c.BatchSize)
	}
	c := accept(t, "buffer.memory.allocation.strategy=incremental", "batch.size=16383", "compression.type=gzip")
	if c.IncrementalAllocation {
		t.Error("chunks for a batch smaller than one")
	}
	wantWarning(t, c, "Ignoring buffer.memory.allocation.strategy=incremental and falling back to full: batch.size is "+
		"16383 bytes, below the 16384 byte chunk size, so a batch cannot fill a single chunk.")
	refuse(t, "The incremental buffer.memory.allocation.strategy does not support compression yet. "+
		"compression.type must be set to none.", "buffer.memory.allocation.strategy=incremental", "compression.type=gzip")
}

func TestNullIsRefusedWhereANumberIsNeeded(t *testing.T) {
	for _, key := range []string{clientID, enableIdempotence, "connections.max.idle.ms", transactionTimeout} {
		wantError(t, "Invalid value null for configuration "+key+": Value must be non-null",
			append(given(), Setting{Key: key}))
	}
	if _, err := Parse(append(given(), Setting{Key: transactionalID}, Setting{Key: clientRack})); err != nil {
		t.Errorf("null is no value: %v", err)
	}
}
