package oauth

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestATokenDoesNotPrintItsValue(t *testing.T) {
	token := Token{Value: "s3cret", Principal: "me", Scope: []string{"a", "b"}, Expiry: time.Unix(1000, 0)}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "token", token)
	asJSON, err := json.Marshal(token)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"%v": fmt.Sprintf("%v", token), "%+v": fmt.Sprintf("%+v", token), "%#v": fmt.Sprintf("%#v", token), "String": token.String(),
		"pointer": fmt.Sprintf("%+v", &token), "log": log.String(), "json": string(asJSON),
	} {
		if strings.Contains(got, "s3cret") || !strings.Contains(got, "me") {
			t.Errorf("%s prints %s", name, got)
		}
	}
}
