package config

import (
	"fmt"
	"math"
	"strings"
)

// ChunkSize is how many bytes a batch takes at a time with buffer.memory.allocation.strategy incremental.
const ChunkSize = 16384

// build works out what the parts of the producer are made with, in the order of KafkaProducer's constructor.
func (p *parser) build() *Error {
	if err := p.settleTimes(); err != nil {
		return err
	}
	if p.int(bootstrapResolveTimeout) == 0 {
		if err := p.parseBootstrap(); err != nil {
			return err
		}
	}
	switch {
	case p.values[transactionalID] != nil:
		p.info(p.logPrefix() + "Instantiated a transactional producer.")
	case p.bool(enableIdempotence):
		p.info(p.logPrefix() + "Instantiated an idempotent producer.")
	}
	if err := p.settlePartitioning(); err != nil {
		return err
	}
	if err := p.settleMemory(); err != nil {
		return err
	}
	if n := p.int(bootstrapResolveTimeout); n != 0 {
		p.info(fmt.Sprintf("Asynchronous bootstrap DNS resolution is enabled via %s=%d. This evolving feature may "+
			"undergo compatibility-breaking changes in a minor release.", bootstrapResolveTimeout, n))
		return p.parseBootstrap()
	}
	return nil
}

// settleTimes: a record must be able to wait for linger.ms and then for one answer. All three are Java ints, and the
// sum stops at the largest (KAFKA-8134).
func (p *parser) settleTimes() *Error {
	if p.int(lingerMs) > math.MaxInt32 {
		p.values[lingerMs] = int64(math.MaxInt32)
		p.why[lingerMs] = "the largest value is used"
	}
	least := min(p.int(lingerMs)+p.int(requestTimeout), math.MaxInt32)
	if p.int(deliveryTimeout) >= least {
		return nil
	}
	rule := deliveryTimeout + " should be equal to or larger than " + lingerMs + " + " + requestTimeout
	if p.was(deliveryTimeout) {
		return &Error{Key: deliveryTimeout, Message: rule}
	}
	p.warn(fmt.Sprintf("%s%s. Setting it to %d.", p.logPrefix(), rule, least))
	p.values[deliveryTimeout] = least
	p.why[deliveryTimeout] = "raised to " + lingerMs + " + " + requestTimeout
	return nil
}

func (p *parser) settlePartitioning() *Error {
	if p.plugin(partitionerClass) != "" && p.bool(adaptivePartitioning) {
		p.values[adaptivePartitioning] = false
		p.why[adaptivePartitioning] = "off because " + partitionerClass + " is set"
	}
	if p.bool(rackAware) && strings.TrimSpace(p.str(clientRack)) == "" {
		return &Error{Key: clientRack, Message: "client.rack must be provided if partitioner.rack.aware is enabled"}
	}
	return nil
}

func (p *parser) settleMemory() *Error {
	if p.int(batchSize) == 0 {
		p.values[batchSize] = int64(1)
		p.why[batchSize] = "0 means one record a batch"
	}
	if !strings.EqualFold(p.str(allocationStrategy), "incremental") {
		return nil
	}
	if n := p.int(batchSize); n < ChunkSize {
		p.warn(fmt.Sprintf("%sIgnoring %s=incremental and falling back to full: %s is %d bytes, below the %d byte "+
			"chunk size, so a batch cannot fill a single chunk.", p.logPrefix(), allocationStrategy, batchSize, n, ChunkSize))
		p.values[allocationStrategy] = "full"
		p.why[allocationStrategy] = batchSize + " is smaller than a chunk"
		return nil
	}
	if p.str(compressionType) != "none" {
		return &Error{Key: allocationStrategy, Message: "The incremental buffer.memory.allocation.strategy does not " +
			"support compression yet. compression.type must be set to none."}
	}
	return nil
}
