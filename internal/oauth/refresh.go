package oauth

// Refresh says when a token is replaced: the sasl.login.refresh.* options. All times are milliseconds since 1970.
type Refresh struct {
	WindowFactor  float64 // the part of a token's life after which a new one is fetched
	WindowJitter  float64 // the largest random part added to that
	MinPeriodSecs int64   // shortest time between two fetches
	BufferSecs    int64   // how long before the end a new one must be there
}

// retryMs is how long a refresh that failed waits for the next try: Java's 10 seconds.
const retryMs = 10_000

// at is the instant at which a token that lives from start to expiry is replaced, given random in [0, 1). A token that lives
// too short for period and buffer forgets about them (in Java: ExpiringCredentialRefreshingLogin.refreshMs). For now ≤ expiry
// the instant is not before now.
func (r Refresh) at(now, start, expiry int64, random float64) int64 {
	part := r.WindowFactor + r.WindowJitter*random
	if now+1000*(r.MinPeriodSecs+r.BufferSecs) > expiry {
		return now + int64(float64(expiry-now)*part)
	}
	proposed := start + int64(float64(expiry-start)*part)
	latest, earliest := expiry-r.BufferSecs*1000, now+r.MinPeriodSecs*1000
	switch {
	case proposed > latest:
		proposed = latest
	case proposed < earliest:
		proposed = earliest
	}
	return proposed
}
