package backoff

import (
	"math"
	"math/big"
)

// Java's Math.log and Math.pow are, but for rare cases, the correctly rounded results; Go's may be a unit or two in the
// last place off. It matters here: at the cap, initial × multiplier^expMax lands next to a whole number and is cut to it
// (10000 × 2^1.58… is 30000 in Java, 29999 by math.Pow). So the two are computed with bits to spare and rounded once.
const precision = 128

func newFloat(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// ln is the natural logarithm of x, rounded correctly but for ties closer than some 2^-90.
func ln(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x) // an infinity or NaN, exact by definition
	}
	f, _ := bigLn(x).Float64()
	return f
}

// pow is base^exp, rounded likewise.
func pow(base, exp float64) float64 {
	if !(base > 1) || math.IsInf(exp, 0) || exp != exp {
		return math.Pow(base, exp)
	}
	product := bigLn(base)
	f, _ := bigExp(product.Mul(product, newFloat(exp))).Float64()
	return f
}

// bigLn: with x = m·2^k and m in [0.5,1), ln x = ln m + k·ln 2, and ln m = 2·artanh((m-1)/(m+1)).
func bigLn(x float64) *big.Float {
	m := newFloat(0)
	k := newFloat(x).MantExp(m)
	z := artanh(newFloat(0).Quo(newFloat(0).Sub(m, newFloat(1)), newFloat(0).Add(m, newFloat(1))))
	ln2 := artanh(newFloat(0).Quo(newFloat(1), newFloat(3))) // half of ln 2
	z.Add(z, ln2.Mul(ln2, newFloat(float64(k))))
	return z.Mul(z, newFloat(2))
}

// artanh z = z + z³/3 + z⁵/5 + …, for |z| <= 1/3: each term adds three bits at least.
func artanh(z *big.Float) *big.Float {
	square := newFloat(0).Mul(z, z)
	power := newFloat(0).Set(z)
	sum := newFloat(0).Set(z)
	for n := 3; n < 2*precision/3+3; n += 2 {
		power.Mul(power, square)
		sum.Add(sum, newFloat(0).Quo(power, newFloat(float64(n))))
	}
	return sum
}

// bigExp: e^x = (e^(x/2^halvings))^(2^halvings), the inner one by its Taylor series.
func bigExp(x *big.Float) *big.Float {
	const halvings, terms = 16, 24
	small := newFloat(0).SetMantExp(x, -halvings)
	sum, term := newFloat(1), newFloat(1)
	for n := 1; n <= terms; n++ {
		term.Quo(term.Mul(term, small), newFloat(float64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}
