//go:build unix

package producer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"linger/test/broker/kafkatest"
	"linger/test/oracle"
)

// topicPartitions is the partition count of {{TOPIC}}; key "k" goes to partition 2 of them in the vectors.
const topicPartitions = 6

// nobody is an address where nothing listens: no system gives that port to anybody who just asks for one.
const nobody = "127.0.0.1:1"

// sendErrors are the vectors' surroundings, made once.
type sendErrors struct {
	ordinary, restless *kafkatest.Cluster
	topic              string
	unreachable        string
}

// What Send throws, what the future and the callback get, on which side and when, and what interceptors hear, are Java's
// (SEND-16, SEND-20, SEND-22, ERR-03, ERR-04): each vector runs against a real broker.
func TestOracleSendErrors(t *testing.T) {
	var set struct{ Cases []sendCase }
	oracle.Load(t, "send-errors.json", &set)
	var cases []sendCase
	for _, c := range set.Cases {
		if _, transactional := c.Config["transactional.id"]; !transactional {
			cases = append(cases, c)
		}
	}
	t.Logf("%d vectors with transactional.id wait for transactions, %d run", len(set.Cases)-len(cases), len(cases))

	env := sendErrors{ordinary: one(t), restless: restless(t), topic: kafkatest.TopicName(t), unreachable: nobody}
	for _, c := range []*kafkatest.Cluster{env.ordinary, env.restless} {
		c.CreateTopic(t, env.topic, topicPartitions, nil)
	}
	for suffix, config := range map[string][2]string{
		"small": {"max.message.bytes", "1000"}, "compact": {"cleanup.policy", "compact"}, "isr": {"min.insync.replicas", "2"},
		"stamped": {"message.timestamp.before.max.ms", "3600000"},
	} {
		values := map[string]string{config[0]: config[1]}
		if suffix == "stamped" {
			values["message.timestamp.after.max.ms"] = "3600000"
		}
		env.ordinary.CreateTopic(t, env.topic+"-"+suffix, 1, values)
	}
	oracle.Run(t, cases, func(c sendCase) string { return c.ID }, sendRules(&env), func(t *testing.T, c sendCase) { env.run(t, c) })
}

func (env *sendErrors) newRun(t *testing.T, c sendCase) *sendRun {
	r := &sendRun{T: t, vector: c, cluster: env.ordinary, topic: env.topic, unreachable: env.unreachable}
	if c.Kind == "stopped-broker" {
		r.cluster = env.restless
	}
	return r
}

func (env *sendErrors) run(t *testing.T, c sendCase, changes ...func(*sendRun)) {
	r := env.newRun(t, c)
	for _, change := range changes {
		change(r)
	}
	switch c.Kind {
	case "record":
		r.construction(c)
	case "send":
		r.oneSend(c)
	case "script":
		r.script(c)
	case "stopped-broker":
		r.stopped(c)
	default:
		t.Fatalf("no way is known to run a vector of kind %q", c.Kind)
	}
}

func (r *sendRun) oneSend(c sendCase) {
	action, want := decode[sendAction](r.T, c.Action), decode[sendOutcome](r.T, c.Outcome)
	if want.Callback != nil && want.Callback.Metadata != nil {
		r.retopic = r.fill(want.Callback.Metadata.Topic)
	}
	r.start(c.Config)
	r.knowTopic()
	r.wantSent(want, r.finish(r.begin(context.Background(), r.record(action))))
	if _, has := c.Config["interceptor.classes"]; !has {
		return
	}
	if err := r.p.Close(); err != nil {
		r.Errorf("close: %v", err)
	}
	r.wantInterceptors(want)
}

// sendRules are the deliberate differences.
func sendRules(env *sendErrors) []oracle.Rule[sendCase] {
	differ := func(change func(r *sendRun, c sendCase)) func(*testing.T, sendCase) {
		return func(t *testing.T, c sendCase) { env.run(t, c, func(r *sendRun) { change(r, c) }) }
	}
	instead := func(links ...javaLink) func(*sendRun, sendCase) {
		return func(r *sendRun, _ sendCase) { r.adapt = func([]javaLink) []javaLink { return links } }
	}
	return []oracle.Rule[sendCase]{
		{
			Name:    "an empty topic is a missing one",
			Reason:  "a Go string has no null, so Send refuses the empty topic as Java's constructor refuses null, without asking a broker",
			Matches: func(c sendCase) bool { return c.Kind != "script" && topicOf(c) == "" },
			Instead: func(t *testing.T, c sendCase) { env.refuses(t, c, `^Topic cannot be empty; set Record\.Topic$`) },
		},
		{
			Name:    "PartitionsFor has no null",
			Reason:  "a Go string has no null; the empty one is an illegal argument",
			Matches: func(c sendCase) bool { return hasCall(c, "partitionsFor(null)") },
			Instead: differ(func(r *sendRun, c sendCase) {
				r.adapt = func(want []javaLink) []javaLink {
					if simpleName(want[0].Class) == "NullPointerException" {
						return []javaLink{link("IllegalArgumentException", "topic cannot be empty")}
					}
					return want
				}
			}),
		},
		{
			Name:    "calls of later versions",
			Reason:  "transactions, Java's metric names and telemetry are not in this version: there are no such methods",
			Matches: func(c sendCase) bool { return hasCall(c, laterCalls) },
			Instead: func(t *testing.T, c sendCase) { env.withoutLaterCalls(t, c) },
		},
		{
			Name:    "types have their Go names",
			Reason:  "the text names the value's and the serializer's type, and those are Go's",
			Matches: func(c sendCase) bool { return strings.Contains(string(c.Outcome), "Can't convert ") },
			Instead: differ(func(r *sendRun, c sendCase) { r.adapt = goTypes(r, c) }),
		},
		{
			Name:    "an interceptor's empty record",
			Reason:  "a Go record has no null; what comes back empty has no topic",
			Matches: func(c sendCase) bool { return configured(c, "return-null") },
			Instead: func(t *testing.T, c sendCase) { env.refuses(t, c, `^Topic cannot be empty; set Record\.Topic$`) },
		},
		{
			Name:    "a partitioner's choice beyond the topic",
			Reason:  "Java keeps such a record until delivery.timeout.ms ends; the mistake is plain at once",
			Matches: func(c sendCase) bool { return beyond(c) },
			Instead: func(t *testing.T, c sendCase) {
				env.refuses(t, c, `^The partitioner generated partition number \d+, but topic \S+ has 6 partitions\.$`)
			},
		},
		{
			Name:    "a context ends a wait",
			Reason:  "Go has no interruption of threads: the context's error is visible within ErrInterrupted, where Java has InterruptedException",
			Matches: func(c sendCase) bool { return strings.HasPrefix(c.ID, "interrupt/") || hasCall(c, "interrupt") },
			Instead: differ(func(r *sendRun, _ sendCase) {
				instead(link("InterruptException", ""))(r, sendCase{})
				r.also = func(err error) {
					if !errors.Is(err, context.Canceled) {
						r.Errorf("%v does not show the context's error", err)
					}
				}
			}),
		},
		{
			Name:    "Flush inside a callback is an illegal state",
			Reason:  "it is a call at the wrong moment, as ErrIllegalState says; Java has only its general exception",
			Matches: func(c sendCase) bool { return hasCall(c, "flush inside a callback") },
			Instead: differ(instead(link("IllegalStateException", ""))),
		},
	}
}

func link(class, message string) javaLink {
	if message == "" {
		return javaLink{Class: class}
	}
	return javaLink{Class: class, Message: &message}
}

// topicOf is the record's topic, null as "".
func topicOf(c sendCase) string {
	if c.Kind == "send" {
		return actionOf(c).Topic
	}
	if m := regexp.MustCompile(`ProducerRecord\(([^,)]*)`).FindSubmatch(c.Action); m != nil {
		return word(string(m[1]))
	}
	return "none: no record is made"
}

// laterCalls are the calls that this version has no method for.
const laterCalls = `^(initTransactions|beginTransaction|commitTransaction|abortTransaction|sendOffsetsToTransaction|metrics|clientInstanceId|.*ransaction)`

func hasCall(c sendCase, pattern string) bool {
	re := regexp.MustCompile(strings.NewReplacer("(null)", `\(null\)`).Replace(pattern))
	for _, step := range c.Steps {
		if re.MatchString(step.Call) {
			return true
		}
	}
	return false
}

func configured(c sendCase, value string) bool {
	for key, v := range c.Config {
		if strings.HasPrefix(key, "oracle.") && v == value {
			return true
		}
	}
	return false
}

func beyond(c sendCase) bool {
	n, err := strconv.Atoi(c.Config["oracle.partition"])
	return err == nil && n >= topicPartitions && strings.Contains(c.Config["partitioner.class"], "FixedPartitioner") && actionOf(c).Partition == nil
}

// actionOf is a send's action, nothing for the other kinds.
func actionOf(c sendCase) (a sendAction) {
	if c.Kind == "send" {
		_ = json.Unmarshal(c.Action, &a) // the run itself reports a broken one
	}
	return a
}

// refuses asserts that Send itself fails with an illegal argument: no callback, no future, nothing counted (ERR-04), and every
// interceptor told.
func (env *sendErrors) refuses(t *testing.T, c sendCase, text string) {
	r := env.newRun(t, c)
	var rec anyRecord
	config := c.Config
	if c.Kind == "record" {
		rec, config = r.constructed(decode[string](t, c.Action)), map[string]string{"bootstrap.servers": "{{BROKER}}"}
	} else {
		rec = r.record(decode[sendAction](t, c.Action))
	}
	r.start(config)
	got := r.finish(r.begin(context.Background(), rec))
	r.wantError("Send", []javaLink{link("IllegalArgumentException", "")}, got.thrown)
	if says := r.text(got.thrown); !regexp.MustCompile(text).MatchString(says) || got.called != 0 {
		t.Errorf("Send says %q and called back %d times, want %s", says, got.called, text)
	}
	if n := r.p.Counters(); n.RecordErrors != 0 || n.RecordsSent != 0 || n.RecordsRefused != 1 {
		t.Errorf("counters %+v", n)
	}
	told := 0
	for _, e := range r.events.list {
		if strings.Contains(e, ".onAcknowledgement(") && strings.HasSuffix(e, ",no-offset,no-timestamp,IllegalArgumentException)") {
			told++
		}
	}
	if classes := c.Config["interceptor.classes"]; classes != "" && told != len(strings.Split(classes, ",")) {
		t.Errorf("%d interceptors of %s heard of it: %q", told, classes, r.events.list)
	}
}

// withoutLaterCalls runs the rest of a script, and asserts that the methods are really missing: when they come, the rule goes.
func (env *sendErrors) withoutLaterCalls(t *testing.T, c sendCase) {
	later := regexp.MustCompile(laterCalls)
	env.run(t, c, func(r *sendRun) { r.skip = later.MatchString })
	methods := reflect.TypeFor[*anyProducer]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if regexp.MustCompile(`(?i)transaction|^metrics$|instanceid`).MatchString(name) {
			t.Errorf("there is a method %s now: let the vectors use it", name)
		}
	}
}

// goTypes puts our types into Java's text.
func goTypes(r *sendRun, c sendCase) func([]javaLink) []javaLink {
	action := decode[sendAction](r.T, c.Action)
	re := regexp.MustCompile(`^Can't convert (key|value) of class \S+ to class \S+ specified`)
	return func(want []javaLink) []javaLink {
		out := append([]javaLink(nil), want...)
		m := re.FindStringSubmatch(*out[0].Message)
		if m == nil {
			return out
		}
		value, serializer := r.side(action.Key), any(anyString{})
		if m[1] == "value" {
			value = r.side(action.Value)
		}
		if strings.HasSuffix(c.Config[m[1]+".serializer"], "$Throwing") {
			serializer = throwing{}
		}
		text := re.ReplaceAllLiteralString(*out[0].Message, fmt.Sprintf("Can't convert %s of class %T to class %T specified", m[1], value, serializer))
		out[0].Message = &text
		return out
	}
}
