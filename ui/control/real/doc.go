// Package real holds no code: its tests run package control, with the real engine, over real devices in namespaces of their own. They
// stand apart so that where namespaces are refused the tests of control itself still run.
package real
