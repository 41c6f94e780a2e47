package metadata

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/kerr"
)

func TestRequestNeverAsksForEveryTopicOfTheCluster(t *testing.T) {
	s := started(defaults())
	r := s.Request(0)
	if r.Topics == nil || !r.AllowAutoTopicCreation {
		t.Fatalf("request %+v", r)
	}
	for version := int16(1); version <= r.MaxVersion(); version++ {
		r.SetVersion(version)
		back := kmsg.NewPtrMetadataRequest()
		back.SetVersion(version)
		if err := back.ReadFrom(r.AppendTo(nil)); err != nil || back.Topics == nil || len(back.Topics) != 0 {
			t.Errorf("version %d: %v, topics %v", version, err, back.Topics)
		}
	}
}

func TestAnswerWithoutBrokersIsAFailure(t *testing.T) {
	s := started(defaults())
	before := s.Cluster()
	s.Request(0)
	if s.Update(0, kmsg.NewPtrMetadataResponse()) || s.Cluster() != before {
		t.Error("the cluster changed")
	}
	wantNext(t, s, 0, ms(100))
}

// META-14
func TestIdleTopicIsDroppedAndFetchedAnew(t *testing.T) {
	s := started(defaults())
	s.Add("used", 0)
	s.Add("idle", 0)
	both := answer(topic("used", leader{1, 0}), topic("idle", leader{1, 5}))
	fetch(t, s, 0, both)
	s.Add("used", 4*minute)
	fetch(t, s, 5*minute, both)
	if s.Wanted("idle") || s.Cluster().Topic("idle") != nil || s.Cluster().Topic("used") == nil {
		t.Fatal("the idle topic is still there, or the used one is not")
	}
	s.Add("idle", 6*minute)
	if asked := fetch(t, s, 6*minute, answer(topic("idle", leader{2, 0}))); !cmp.Equal(asked, []string{"idle"}) {
		t.Errorf("asked for %v", asked)
	}
	wantLeader(t, s, "idle", 0, 2, 0) // its epochs are forgotten too
	wantLeader(t, s, "used", 0, 1, 0)
}

// META-05
func TestUseRenewsTheIdleExpiry(t *testing.T) {
	cases := map[string]struct {
		use  func(*Store)
		want bool
	}{
		"not used since":                  {func(*Store) {}, false},
		"registered again":                {func(s *Store) { s.Add("a", 2*minute) }, true},
		"touched":                         {func(s *Store) { s.Touch("a", 2*minute) }, true},
		"touched by an older use":         {func(s *Store) { s.Add("a", 2*minute); s.Touch("a", 0) }, true},
		"touched under a name not in use": {func(s *Store) { s.Touch("b", 2*minute) }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := started(defaults())
			s.Add("a", 0)
			fetch(t, s, 0, answer(topic("a", leader{1, 0})))
			c.use(s)
			fetch(t, s, 5*minute, answer(topic("a", leader{1, 0})))
			if s.Wanted("a") != c.want || s.Wanted("b") {
				t.Errorf("a is wanted: %v, b: %v", s.Wanted("a"), s.Wanted("b"))
			}
		})
	}
}

func TestNewTopicIsKeptUntilABrokerSpokeOfIt(t *testing.T) {
	o := defaults()
	o.MaxIdleMs = 5000
	s := started(o)
	s.Add("a", 0)
	fetch(t, s, minute, answer()) // the broker left it out
	s.RequestTopic("a")
	fetch(t, s, minute+ms(100), answer(topic("a", leader{1, 0})))
	if !s.Wanted("a") || s.Cluster().Topic("a") == nil {
		t.Fatal("dropped with the very answer that it waited for")
	}
	s.RequestUpdate()
	fetch(t, s, 2*minute, answer(topic("a", leader{1, 0})))
	if s.Wanted("a") {
		t.Error("not dropped although it has been idle for long")
	}
}

func TestAnswerToNewTopicsMaySpeakOfOthers(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	fetch(t, s, 0, answer(topic("a", leader{1, 0})))
	s.Add("b", ms(1))
	fetch(t, s, ms(1), answer(topic("b", leader{1, 0}), failedTopic("a", kerr.TopicAuthorizationFailed)))
	if v := s.View(); v.Topic("a") != nil || v.TopicErr("a") != kerr.TopicAuthorizationFailed {
		t.Errorf("topic %v, error %v", v.Topic("a"), v.TopicErr("a"))
	}
}

// META-08, META-11
func TestTopicErrors(t *testing.T) {
	cases := map[string]struct {
		code      kerr.Code
		askAgain  bool // the error says that the broker may know more soon
		withOther bool // it is still told after an answer that speaks of another topic only
	}{
		"an unknown topic may be in the making":   {kerr.UnknownTopicOrPartition, true, false},
		"a topic without leader is in the making": {kerr.LeaderNotAvailable, true, false},
		"an invalid name stays invalid":           {kerr.InvalidTopicException, false, true},
		"missing permission stays missing":        {kerr.TopicAuthorizationFailed, false, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := started(defaults())
			fetch(t, s, 0, answer())
			s.Add("bad", 0)
			fetch(t, s, ms(100), answer(failedTopic("bad", c.code)))
			view := s.View()
			if view.TopicErr("bad") != c.code || view.TopicErr("other") != kerr.None || view.Topic("bad") != nil {
				t.Fatalf("error %v, of another %v, topic %v", view.TopicErr("bad"), view.TopicErr("other"), view.Topic("bad"))
			}
			if due := s.Due(ms(500)); due != c.askAgain {
				t.Errorf("asked for again: %v", due)
			}
			s.Add("other", ms(600))
			if asked := fetch(t, s, ms(600), answer(topic("other", leader{1, 0}))); c.askAgain == (len(asked) == 1) {
				t.Errorf("asked for %v", asked)
			}
			if !c.askAgain {
				if got := s.View().TopicErr("bad"); (got == c.code) != c.withOther {
					t.Errorf("after an answer about another topic the error is %v", got)
				}
			}
			s.RequestUpdate()
			fetch(t, s, 2*second, answer(topic("bad", leader{1, 0}), topic("other", leader{1, 0})))
			if got := s.View().TopicErr("bad"); got != kerr.None || s.View().Topic("bad") == nil {
				t.Errorf("error %v although the topic is there", got)
			}
			if view.TopicErr("bad") != c.code {
				t.Error("an old view changed")
			}
		})
	}
}

// CASES B06: the topic comes back as it was.
func TestTopicThatIsBrieflyMissingComesBack(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	fetch(t, s, 0, answer(topic("a", leader{1, 3})))
	s.RequestUpdate()
	fetch(t, s, second, answer(failedTopic("a", kerr.UnknownTopicOrPartition)))
	if s.Cluster().Topic("a") != nil || !s.Wanted("a") {
		t.Fatal("the topic is still shown, or no longer asked for")
	}
	fetch(t, s, 2*second, answer(topic("a", leader{1, 3})))
	wantLeader(t, s, "a", 0, 1, 3)
}

// META-08
func TestFatalErrorsReachEveryViewUntilABrokerAnswers(t *testing.T) {
	for name, err := range map[string]error{
		"wrong password":        &kerr.Error{Code: kerr.SASLAuthenticationFailed},
		"no version in common":  &kerr.Error{Code: kerr.UnsupportedVersion},
		"certificate not liked": kerr.ErrAuthentication,
	} {
		t.Run(name, func(t *testing.T) {
			s := started(defaults())
			version := s.View().Version
			s.Request(0)
			s.Failed(0, err)
			if v := s.View(); !errors.Is(v.Fatal, err) || v.Version <= version {
				t.Fatalf("view %d, fatal %v", v.Version, v.Fatal)
			}
			wantNext(t, s, 0, ms(100)) // it is tried again all the same
			fetch(t, s, second, answer())
			if s.View().Fatal != nil {
				t.Errorf("still %v", s.View().Fatal)
			}
		})
	}
}

// CASES B22
func TestUnresolvedBootstrapIsFatalForGood(t *testing.T) {
	s := New(defaults())
	err := errors.New("no such host")
	s.BootstrapFailed(err)
	if s.View().Fatal != err {
		t.Fatalf("fatal %v", s.View().Fatal)
	}
	s.Update(0, answer())
	if s.View().Fatal != err {
		t.Error("an answer made it go")
	}
}

// Waiters are woken by a new view, and each of them then asks again at once: that must not happen at every failure.
func TestConnectErrorMakesOneNewView(t *testing.T) {
	s := started(defaults())
	first := errors.New("connection refused")
	s.Request(0)
	s.Failed(0, first)
	version := s.View().Version
	if s.View().LastConnectError != first || s.View().Fatal != nil {
		t.Fatalf("view %+v", s.View())
	}
	s.Failed(second, errors.New("connection reset"))
	s.Disconnected(2*second, errors.New("connection reset"))
	if s.View().Version != version {
		t.Error("the next failures made new views")
	}
	fetch(t, s, 5*second, answer())
	if s.View().LastConnectError != nil {
		t.Error("an answer did not end it")
	}
}

func TestOnlyADueUpdateMakesALostConnectionWorthTelling(t *testing.T) {
	s := started(defaults())
	fetch(t, s, 0, answer())
	s.Disconnected(second, errors.New("idle"))
	if s.View().LastConnectError != nil {
		t.Error("an idle connection that closes is told")
	}
	s.Disconnected(second, kerr.ErrAuthentication)
	if s.View().Fatal == nil {
		t.Error("a failed authentication is not")
	}
}
