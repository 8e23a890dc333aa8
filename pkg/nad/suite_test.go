package nad_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestNAD(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "nad")
}
