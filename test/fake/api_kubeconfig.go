package fake

import (
	"encoding/json"
	"os"
)

// KubeconfigOption changes what Kubeconfig writes.
type KubeconfigOption func(cluster, user map[string]any)

// Server names another address than the server's own.
func Server(url string) KubeconfigOption {
	return func(cluster, _ map[string]any) { cluster["server"] = url }
}

// TokenFile names a file that holds the token, instead of the token.
func TokenFile(path string) KubeconfigOption {
	return func(_, user map[string]any) {
		delete(user, "token")
		user["tokenFile"] = path
	}
}

// Token is another token than the server accepts.
func Token(token string) KubeconfigOption {
	return func(_, user map[string]any) { user["token"] = token }
}

// Insecure leaves the certificate authority out and the server's certificate unchecked.
func Insecure() KubeconfigOption {
	return func(cluster, _ map[string]any) {
		delete(cluster, "certificate-authority-data")
		cluster["insecure-skip-tls-verify"] = true
	}
}

// ClientCertificate gives a client certificate instead of the token.
func (a *API) ClientCertificate() KubeconfigOption {
	return func(_, user map[string]any) {
		delete(user, "token")
		user["client-certificate-data"] = a.identity.certPEM
		user["client-key-data"] = a.identity.keyPEM
	}
}

// Kubeconfig writes a kubeconfig of mode 0600 for this server, with its token unless an option says otherwise.
func (a *API) Kubeconfig(path string, options ...KubeconfigOption) error {
	cluster := map[string]any{"server": a.URL(), "certificate-authority-data": a.identity.certPEM}
	user := map[string]any{"token": a.Token()}
	for _, option := range options {
		option(cluster, user)
	}
	raw, err := json.MarshalIndent(map[string]any{
		"apiVersion":      "v1",
		"kind":            "Config",
		"clusters":        []any{map[string]any{"name": "fake", "cluster": cluster}},
		"users":           []any{map[string]any{"name": "multus", "user": user}},
		"contexts":        []any{map[string]any{"name": "multus", "context": map[string]any{"cluster": "fake", "user": "multus"}}},
		"current-context": "multus",
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}

// Authority is the certificate of the server's authority, in PEM.
func (a *API) Authority() []byte { return a.identity.certPEM }

// Token is the token that the server accepts.
func (a *API) Token() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.token
}

// SetToken makes the server accept another token only, as when the former one has expired.
func (a *API) SetToken(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = token
}
