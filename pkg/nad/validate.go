package nad

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxSubdomain = 253 // bytes of a DNS-1123 subdomain
	maxLabel     = 63  // bytes of a DNS-1123 label
	maxInterface = 15  // bytes of an interface name: IFNAMSIZ without the final NUL
)

var errEmpty = errors.New("empty")

// ValidateName says whether name can be the name of a NetworkAttachmentDefinition: a DNS-1123 subdomain (NET-3).
func ValidateName(name string) error {
	if name == "" {
		return errEmpty
	}
	if len(name) > maxSubdomain {
		return fmt.Errorf("%s is longer than %d bytes", quote(name), maxSubdomain)
	}
	for label := range strings.SplitSeq(name, ".") {
		if !isLabel(label) {
			return fmt.Errorf("%s is not a DNS-1123 subdomain: a-z, 0-9, '-' and '.', each part beginning and ending with a letter or digit", quote(name))
		}
	}
	return nil
}

// ValidateNamespace says whether namespace can be the name of a Kubernetes namespace: a DNS-1123 label (NET-3).
func ValidateNamespace(namespace string) error {
	if namespace == "" {
		return errEmpty
	}
	if len(namespace) > maxLabel {
		return fmt.Errorf("%s is longer than %d bytes", quote(namespace), maxLabel)
	}
	if !isLabel(namespace) {
		return fmt.Errorf("%s is not a DNS-1123 label: a-z, 0-9 and '-', beginning and ending with a letter or digit", quote(namespace))
	}
	return nil
}

// isLabel leaves the length to the caller: Kubernetes limits that of a whole subdomain, not that of its parts.
func isLabel(label string) bool {
	for i := range len(label) {
		c := label[i]
		inner := i > 0 && i < len(label)-1
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' && inner) {
			return false
		}
	}
	return label != ""
}

// ValidateInterfaceName says whether the kernel gives an interface exactly this name (NET-3): 1–15 bytes of UTF-8, no
// '/', ':' or '%', no blanks or control characters, not "." or "..".
func ValidateInterfaceName(name string) error {
	switch {
	case name == "":
		return errEmpty
	case len(name) > maxInterface:
		return fmt.Errorf("%s is longer than %d bytes", quote(name), maxInterface)
	case name == "." || name == "..":
		return fmt.Errorf("%q is not an interface name", name)
	case !utf8.ValidString(name):
		return fmt.Errorf("%q is not valid UTF-8", name)
	case strings.ContainsAny(name, "/:"):
		return fmt.Errorf("%q has a '/' or ':'", name)
	case strings.Contains(name, "%"):
		// The kernel would take it for a pattern and choose another name.
		return fmt.Errorf("%q has a '%%'", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%q has a control character", name)
	case strings.ContainsFunc(name, unicode.IsSpace) || strings.Contains(name, "\xa0"):
		// The kernel looks at bytes and takes 0xA0, the second byte of "à", for a blank.
		return fmt.Errorf("%q has a blank, or a character that the kernel takes for one", name)
	}
	return nil
}

// ValidatePathElement says whether s is safe as one component of a path: not empty, no '/' or NUL, not "." or ".."
// (SEC-2).
func ValidatePathElement(s string) error {
	switch {
	case s == "":
		return errEmpty
	case s == "." || s == "..":
		return fmt.Errorf("%q is a directory", s)
	case strings.ContainsAny(s, "/\x00"):
		return fmt.Errorf("%s has a '/' or NUL", quote(s))
	}
	return nil
}
