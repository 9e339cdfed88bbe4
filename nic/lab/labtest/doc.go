// Package labtest runs a package's tests in a lab of their own (nic/lab): as root and as any other user, with real devices and rings, and
// without a trace on the host.
//
//	func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }
//
//	func TestSends(t *testing.T) {
//		labtest.Pair(t, "v0", "v1", 2)
//		...
//	}
//
// All tests of the package share one network namespace, so tests that run in parallel need device names of their own. The package is for
// test files only.
package labtest
