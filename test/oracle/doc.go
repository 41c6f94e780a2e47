// Package oracle hands tests the vectors that the Java 4.4.0 producer's own classes made.
//
// The files in testdata are observations, one set a file: {"set": …, "source": …, "cases": [{"id": …, …}]}. They are
// never edited. A test that reads a set is named TestOracle…, and takes other vectors of the same schema when the
// environment variable LINGER_ORACLE names a folder that holds files of the same names.
package oracle
