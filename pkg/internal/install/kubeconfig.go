package install

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Cluster is what a pod knows of its API server.
type Cluster struct {
	Protocol      string // "https" where it is empty
	Host          string // name or address, an IPv6 address with brackets or without
	Port          string
	CA            []byte // PEM; nil with SkipTLSVerify
	Token         []byte
	Namespace     string // of the context
	SkipTLSVerify bool
}

// Kubeconfig writes a kubeconfig that needs no other file (ENT-6). All that is missing comes in one error, which does
// not hold the token (SEC-1).
func Kubeconfig(c Cluster) ([]byte, error) {
	token := strings.TrimSpace(string(c.Token))
	server, err := c.server()
	if err := errors.Join(err, checkToken(token), c.checkCA()); err != nil {
		return nil, err
	}
	trust := "certificate-authority-data: " + base64.StdEncoding.EncodeToString(c.CA)
	if c.SkipTLSVerify {
		trust = "insecure-skip-tls-verify: true"
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, `apiVersion: v1
kind: Config
clusters:
  - name: local
    cluster:
      server: %s
      %s
users:
  - name: multus
    user:
      token: %s
contexts:
  - name: multus
    context:
      cluster: local
      user: multus
      namespace: %s
current-context: multus
`, encode(server), trust, encode(token), encode(c.Namespace))
	return text.Bytes(), nil
}

// server puts brackets around an address with a colon, and around no other (E131).
func (c Cluster) server() (string, error) {
	protocol, host := c.Protocol, strings.TrimSuffix(strings.TrimPrefix(c.Host, "["), "]")
	if protocol == "" {
		protocol = "https"
	}
	port, err := strconv.Atoi(c.Port)
	switch {
	case host == "":
		return "", errors.New("no address of the API server; KUBERNETES_SERVICE_HOST is not set")
	case err != nil || port < 1 || port > 65535:
		return "", fmt.Errorf("%q is no port of the API server; see KUBERNETES_SERVICE_PORT", c.Port)
	case protocol != "https" && protocol != "http":
		return "", fmt.Errorf("%q is no protocol of the API server; see KUBERNETES_SERVICE_PROTOCOL", protocol)
	}
	server := protocol + "://" + net.JoinHostPort(host, c.Port)
	if parsed, err := url.Parse(server); err != nil || parsed.Hostname() != host {
		return "", fmt.Errorf("%q is no address of the API server; see KUBERNETES_SERVICE_HOST", c.Host)
	}
	return server, nil
}

func checkToken(token string) error {
	if token == "" {
		return errors.New("the service account's token is empty")
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the service account's token has a character that no token has")
	}
	return nil
}

// checkCA keeps a half-written bundle from replacing a good one (E124).
func (c Cluster) checkCA() error {
	if c.SkipTLSVerify {
		return nil
	}
	if block, _ := pem.Decode(c.CA); block == nil || block.Type != "CERTIFICATE" {
		return errors.New("the CA bundle of the API server holds no certificate in PEM")
	}
	return nil
}
