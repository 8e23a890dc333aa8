package state_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestState(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "state")
}

// role has the test binary do a part of a test in a process of its own.
const role = "STATE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch dir := os.Getenv("STATE_TEST_DIR"); os.Getenv(role) {
	case "contend":
		os.Exit(exitCode(contend(dir)))
	case "hold":
		os.Exit(exitCode(hold(dir)))
	case "full disk":
		os.Exit(exitCode(fillDisk(dir)))
	}
	os.Exit(m.Run())
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	os.Stderr.WriteString(err.Error() + "\n")
	return 1
}
