package sim

// Fault is one kind of thing that goes wrong.
type Fault uint8

const (
	NoFault Fault = iota

	// Of connections.
	NameUnknown     // DNS does not know the broker
	DialRefused     // nobody listens
	DialSlow        // no connection within socket.connection.setup.timeout.ms
	WriteSlow       // a request leaves in pieces over a long time
	CutWriting      // the connection ends in the middle of a write
	CutBeforeAppend // the connection ends before the broker looks at the request
	CutInQueue      // the connection ends while the request waits at the broker, which handles it all the same
	CutAfterAppend  // the connection ends before the answer leaves
	IdleCut         // the broker closes a connection that nobody uses
	WrittenLate     // the answer is there before the write is reported

	// Of answers.
	RequestIgnored // a request is never handled
	AnswerLost     // a handled request is never answered, and nothing else on its connection
	AnswerSkipped  // a handled request is never answered, the next one is
	AnswerLate     // an answer comes after request.timeout.ms
	WrongCorr      // an answer names another request
	Truncated      // an answer ends too early
	AnsweredTwice  // an answer comes twice
	LeftOut        // an answer is silent about a partition

	// What brokers say of a batch.
	Refused           // a retriable error, nothing appended
	RefusedAppended   // a retriable error, and yet appended
	RefusedForGood    // an error that no retry mends
	RefusedRecords    // some records of a batch are invalid (KIP-467)
	RefusedTopicID    // the topic's id is not known yet
	RefusedProducer   // the producer may not do idempotent sends: its end
	ProducerForgotten // the log's head is deleted, and with it what was known of the producer
	Throttled         // the broker wants silence

	// Of the cluster.
	LeaderMoves
	LeaderLess      // for a while a partition has no leader
	ViewLags        // a broker learns of a new leader late
	BrokerRestarts  // all its connections end, it is away for a while
	BrokerSlow      // its requests wait
	MetadataRefused // a topic is said not to exist, or to have no leader
	MetadataEmpty   // a broker that still starts knows of no brokers
	IdentityRefused // InitProducerId has to be asked for again

	// Of our own machine.
	LoopSlow
	CallbacksSlow
	SealsSlow
	WallClockJumps
	ClosedByForce

	numFaults
)

var faultNames = [numFaults]string{
	NoFault: "none", NameUnknown: "name unknown", DialRefused: "dial refused", DialSlow: "dial slow", WriteSlow: "write slow",
	CutWriting: "cut while writing", CutBeforeAppend: "cut before append", CutInQueue: "cut in the broker's queue",
	CutAfterAppend: "cut after append", IdleCut: "cut while idle", WrittenLate: "written late",
	RequestIgnored: "request ignored", AnswerLost: "answer lost", AnswerSkipped: "answer skipped", AnswerLate: "answer late",
	WrongCorr: "wrong correlation id", Truncated: "answer truncated", AnsweredTwice: "answered twice", LeftOut: "partition left out",
	Refused: "refused", RefusedAppended: "refused yet appended", RefusedForGood: "refused for good", RefusedRecords: "records refused",
	RefusedTopicID: "topic id unknown", RefusedProducer: "producer refused", ProducerForgotten: "producer forgotten", Throttled: "throttled",
	LeaderMoves: "leader moves", LeaderLess: "no leader", ViewLags: "metadata lags", BrokerRestarts: "broker restarts",
	BrokerSlow: "broker slow", MetadataRefused: "topic said unknown", MetadataEmpty: "no brokers listed",
	IdentityRefused: "producer id refused",
	LoopSlow:        "loop slow", CallbacksSlow: "callbacks slow", SealsSlow: "compression slow", WallClockJumps: "wall clock jumps",
	ClosedByForce: "closed by force",
}

// String names the fault.
func (f Fault) String() string { return faultNames[f] }

// Path is one thing that may become of a batch, a record, a connection or the producer.
type Path uint8

const (
	// What brokers found.
	SaidOK Path = iota
	SaidDuplicate
	SaidDuplicateError
	SaidOutOfOrder
	SaidStaleEpoch
	SaidUnknownProducer
	SaidNotLeader
	SaidNotLeaderHint
	SaidTooLarge
	SameBatchAgain
	NewEpoch
	WrittenWithoutLink
	SaidHelloTooNew

	// What became of records.
	Acked
	AckedWithoutOffset
	AckedAsDuplicate
	ExpiredUnsent
	FailedOnce
	FailedFatal
	FailedByRecord
	ForceClosed
	HeldAfterEnd

	// What logs show that nobody promised to keep out.
	Doubled
	Reordered

	// What became of links.
	FullPipe
	LinkUp
	LinkWritten
	LinkReceived
	LinkClosedByUs
	LinkClosedByPeer
	NameResolved

	// States of the producer.
	StateNone
	NewProducerID
	StateInitializing
	StateReady
	StateFatal

	// What the application met.
	AppendBlocked
	AppendRefusedClosed
	FlushDone
	BatchFilled
	ClosedInOrder
	SplitDone
	RetryDone
	SealedLate

	numPaths
)

var pathNames = [numPaths]string{
	SaidOK: "broker: appended", SaidDuplicate: "broker: duplicate, old offset", SaidDuplicateError: "broker: DUPLICATE_SEQUENCE_NUMBER",
	SaidOutOfOrder: "broker: OUT_OF_ORDER_SEQUENCE_NUMBER", SaidStaleEpoch: "broker: INVALID_PRODUCER_EPOCH",
	SaidUnknownProducer: "broker: UNKNOWN_PRODUCER_ID", SaidNotLeader: "broker: NOT_LEADER_OR_FOLLOWER",
	SaidNotLeaderHint: "broker: NOT_LEADER_OR_FOLLOWER with hint", SaidTooLarge: "broker: MESSAGE_TOO_LARGE",
	SameBatchAgain: "broker: a sequence came again", NewEpoch: "broker: a new epoch began", WrittenWithoutLink: "broker: request of a closed link handled",
	SaidHelloTooNew: "broker: ApiVersions too new",
	Acked:           "record: acknowledged", AckedWithoutOffset: "record: acknowledged without offset",
	AckedAsDuplicate: "record: acknowledged as a duplicate", ExpiredUnsent: "record: expired",
	FailedOnce: "record: failed, retries over", FailedFatal: "record: failed for good", FailedByRecord: "record: failed by itself",
	ForceClosed: "record: failed by forced close", HeldAfterEnd: "memory: held after the result ended",
	Doubled: "log: a record twice, without idempotence", Reordered: "log: records out of order, without idempotence",
	FullPipe: "link: max.in.flight.requests.per.connection reached",
	LinkUp:   "link: up", LinkWritten: "link: written", LinkReceived: "link: received", LinkClosedByUs: "link: closed by us",
	LinkClosedByPeer: "link: closed by peer", NameResolved: "link: name resolved",
	StateNone: "producer: none", NewProducerID: "producer: another id after the last epoch", StateInitializing: "producer: initializing",
	StateReady: "producer: ready", StateFatal: "producer: fatal",
	AppendBlocked: "app: append would block", AppendRefusedClosed: "app: append after close refused", FlushDone: "app: flush done",
	BatchFilled: "app: batch filled", ClosedInOrder: "app: closed in order",
	SplitDone: "sender: batch split", RetryDone: "sender: records retried", SealedLate: "sender: batch sealed by a worker",
}

// String names the path.
func (p Path) String() string { return pathNames[p] }
