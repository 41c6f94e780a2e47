// Package kerr is Kafka's error table, and the error values the producer hands out.
//
// It owns four things:
//   - Code, the protocol's error numbers with the name, text, exception and categories that the Java producer gives
//     them (table.go, generated from vectors made by Java's classes);
//   - Class, what an application can do about an error (KIP-1050);
//   - Error, the one type for what brokers say, which the root package shows to users;
//   - the sentinels (ErrClosed, ErrTimeout, …) for situations that only the client knows.
//
// The plain version: an error is a number from a table. The real one: an error is a chain. Each link may name a code, a
// class and a Java exception; errors.Is, CodeOf, ClassOf, IsAPI and JavaName walk the chain from the outside in and
// take the first link that knows.
//
// The room refuses to decide: whether an error is retried, or what it does to a transaction, is for the room that
// knows the operation. Class belongs to the operation, not to the code alone, so an Error may carry a class of its own.
package kerr

//go:generate env GOWORK=off go run -C ../../tools ./kerrgen -in ../test/oracle/testdata/errors.json -out ../internal/kerr/table.go
