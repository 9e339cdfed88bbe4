package labtest

import "testing"

// Main runs a package's tests inside private namespaces: TestMain calls it and exits with its result. Tests make their own devices with
// Pair. Where namespaces are refused the tests are skipped with a clear word, unless NET_TESTS=require: then that is a failure.
func Main(m *testing.M) int { panic("todo") }

// Pair makes a veth pair named a, b (lab.Pair) and deletes it when the test ends.
func Pair(t testing.TB, a, b string, queues int) { panic("todo") }
