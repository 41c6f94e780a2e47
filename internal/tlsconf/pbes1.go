package tlsconf

import (
	"bytes"
	"crypto"
	"crypto/cipher"
	"crypto/des"
	"crypto/md5"
	"crypto/sha1"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"slices"
	"unicode/utf16"
)

// The old ways to encrypt a PKCS #8 key. They are weak, but until Java 17 they are all that the Java producer can read
// (openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES), so keys that it uses are encrypted like this.
var (
	sha1And3DES = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 1, 3} // PKCS #12, RFC 7292 appendix C
	md5AndDES   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 3}     // PKCS #5, RFC 8018 section 6.1
)

// maxRounds bounds how long a key derivation takes; files have a few thousand.
const maxRounds = 10_000_000

type encryptedKey struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

// isOld reports whether der is a key that decryptOld can read.
func isOld(der []byte) bool {
	var k encryptedKey
	rest, err := asn1.Unmarshal(der, &k)
	return err == nil && len(rest) == 0 && (k.Algorithm.Algorithm.Equal(sha1And3DES) || k.Algorithm.Algorithm.Equal(md5AndDES))
}

// decryptOld undoes PBES1. A wrong password shows in the padding or in what comes out.
func decryptOld(der []byte, password string) (crypto.PrivateKey, error) {
	var k encryptedKey
	var p struct {
		Salt   []byte
		Rounds int
	}
	if _, err := asn1.Unmarshal(der, &k); err != nil {
		return nil, flawed("", "the private key is no encrypted key")
	}
	if _, err := asn1.Unmarshal(k.Algorithm.Parameters.FullBytes, &p); err != nil || p.Rounds < 1 || p.Rounds > maxRounds {
		return nil, flawed(toPKCS8, "the private key is encrypted in a way that can't be understood")
	}
	var block cipher.Block
	var iv []byte
	var err error
	if k.Algorithm.Algorithm.Equal(sha1And3DES) {
		chars := bmp(password)
		block, err = des.NewTripleDESCipher(deriveSHA1(1, chars, p.Salt, p.Rounds, 24))
		iv = deriveSHA1(2, chars, p.Salt, p.Rounds, des.BlockSize)
	} else {
		key := deriveMD5([]byte(password), p.Salt, p.Rounds)
		block, err = des.NewCipher(key[:8])
		iv = key[8:]
	}
	if err != nil {
		return nil, err
	}
	plain, ok := unpadded(block, iv, k.Data)
	if !ok {
		return nil, wrongKeyPassword()
	}
	key, err := plainKey(plain)
	if err != nil {
		return nil, wrongKeyPassword()
	}
	return key, nil
}

func wrongKeyPassword() *flaw {
	return flawed("Is ssl.key.password right?", "the private key can't be decrypted with ssl.key.password")
}

func unpadded(block cipher.Block, iv, data []byte) ([]byte, bool) {
	if len(data) == 0 || len(data)%block.BlockSize() != 0 {
		return nil, false
	}
	plain := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, data)
	n := int(plain[len(plain)-1])
	if n < 1 || n > block.BlockSize() || !bytes.Equal(plain[len(plain)-n:], bytes.Repeat([]byte{byte(n)}, n)) {
		return nil, false
	}
	return plain[:len(plain)-n], true
}

// bmp is password as PKCS #12 has it: two bytes a character and two zeros.
func bmp(password string) []byte {
	var b []byte
	for _, c := range append(utf16.Encode([]rune(password)), 0) {
		b = append(b, byte(c>>8), byte(c))
	}
	return b
}

// deriveMD5 is PBKDF1 with MD5.
func deriveMD5(password, salt []byte, rounds int) []byte {
	sum := md5.Sum(slices.Concat(password, salt))
	for range rounds - 1 {
		sum = md5.Sum(sum[:])
	}
	return sum[:]
}

// deriveSHA1 is the derivation of RFC 7292 appendix B.2 with SHA-1; id says what for: 1 a key, 2 an initial vector.
func deriveSHA1(id byte, password, salt []byte, rounds, size int) []byte {
	const v = 64 // bytes of a SHA-1 block
	d := bytes.Repeat([]byte{id}, v)
	i := append(filled(salt, v), filled(password, v)...)
	var out []byte
	for len(out) < size {
		a := sha1.Sum(append(slices.Clone(d), i...))
		for range rounds - 1 {
			a = sha1.Sum(a[:])
		}
		out = append(out, a[:]...)
		addBlocks(i, new(big.Int).SetBytes(filled(a[:], v)), v)
	}
	return out[:size]
}

// addBlocks adds b+1 to each v-byte block of i, as numbers of that size.
func addBlocks(i []byte, b *big.Int, v int) {
	b.Add(b, big.NewInt(1))
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*v)), big.NewInt(1))
	for from := 0; from < len(i); from += v {
		n := new(big.Int).SetBytes(i[from : from+v])
		n.Add(n, b).And(n, mask).FillBytes(i[from : from+v])
	}
}

// filled repeats b up to a multiple of v bytes.
func filled(b []byte, v int) []byte {
	if len(b) == 0 {
		return nil
	}
	n := (len(b) + v - 1) / v * v
	return bytes.Repeat(b, n/len(b)+1)[:n]
}
