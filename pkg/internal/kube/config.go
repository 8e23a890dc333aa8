package kube

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// serviceAccount is where the kubelet puts a pod's credential.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// load finds out how to reach the API server (section 2, key "kubeconfig").
func load(kubeconfig string, environ []string) (*rest.Config, error) {
	if kubeconfig == "" {
		return inCluster(environ, serviceAccount)
	}
	raw, err := os.ReadFile(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf(`kubeconfig: %w; put one there, or correct key "kubeconfig" of the CNI configuration`, err)
	}
	cfg, err := parse(raw, kubeconfig)
	if err != nil {
		return nil, faulty(kubeconfig, err)
	}
	return cfg, nil
}

// faulty names the source of a configuration that cannot be used.
func faulty(kubeconfig string, err error) error {
	if kubeconfig == "" {
		return fmt.Errorf("service account in %s: %w; mount it, or set key \"kubeconfig\" of the CNI configuration", serviceAccount, err)
	}
	return fmt.Errorf("kubeconfig %s: %w; correct or replace the file", kubeconfig, err)
}

// parse reads a kubeconfig that was found at path: paths in it are relative to that file.
func parse(raw []byte, path string) (*rest.Config, error) {
	config, err := clientcmd.Load(raw)
	if err != nil {
		// The decoder's error quotes the text around the fault, which may be a token or a key (SEC-1).
		return nil, errors.New(`it is not YAML or JSON of kind "Config"`)
	}
	for _, cluster := range config.Clusters {
		cluster.LocationOfOrigin = path
	}
	for _, user := range config.AuthInfos {
		user.LocationOfOrigin = path
	}
	if err := clientcmd.ResolveLocalPaths(config); err != nil {
		return nil, err
	}
	if err := check(config); err != nil {
		return nil, err
	}
	return clientcmd.NewNonInteractiveClientConfig(*config, "", &clientcmd.ConfigOverrides{}, nil).ClientConfig()
}

// check finds what clientcmd would make up for, or says without naming it.
func check(config *api.Config) error {
	if config.CurrentContext == "" {
		return errors.New("current-context: missing")
	}
	context, ok := config.Contexts[config.CurrentContext]
	if !ok {
		return fmt.Errorf("current-context: there is no context %q", config.CurrentContext)
	}
	cluster, ok := config.Clusters[context.Cluster]
	if !ok {
		return fmt.Errorf("context %q: there is no cluster %q", config.CurrentContext, context.Cluster)
	}
	if cluster.Server == "" {
		return fmt.Errorf("cluster %q: server: missing", context.Cluster)
	}
	if cluster.ProxyURL != "" && !isProxy(cluster.ProxyURL) {
		return fmt.Errorf("cluster %q: proxy-url: must be a URL of scheme http, https or socks5", context.Cluster)
	}
	return nil
}

// isProxy checks an address as clientcmd does, which quotes it in its error, with the password that may be in it (SEC-1).
func isProxy(address string) bool {
	proxy, err := url.Parse(address)
	return err == nil && slices.Contains([]string{"http", "https", "socks5"}, proxy.Scheme)
}

// inCluster is the configuration of a process in a pod, whose credential is in a directory.
func inCluster(environ []string, credential string) (*rest.Config, error) {
	host, port := lookup(environ, "KUBERNETES_SERVICE_HOST"), lookup(environ, "KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, ErrNotConfigured
	}
	return &rest.Config{
		Host:            "https://" + net.JoinHostPort(host, port),
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(credential, "ca.crt")},
		BearerTokenFile: filepath.Join(credential, "token"),
	}, nil
}

func lookup(environ []string, key string) string {
	found := ""
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, key+"="); ok {
			found = value
		}
	}
	return found
}

// connect makes the transport, without connecting yet. It is not client-go's own, which would make one connection for
// each of several first requests (NET-16).
func connect(cfg *rest.Config) (*url.URL, http.RoundTripper, error) {
	cfg.UserAgent = "multus"
	server, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, nil, errors.New("server: must be a URL or host:port") // err quotes it, password and all (SEC-1)
	}
	security, err := rest.TLSConfigFor(cfg)
	if err != nil {
		return nil, nil, err
	}
	proxy := cfg.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	authenticated, err := rest.HTTPWrappersForConfig(cfg, &http.Transport{
		Proxy:              proxy,
		DialContext:        (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:    security,
		ForceAttemptHTTP2:  true,
		MaxConnsPerHost:    1,
		DisableCompression: true, // costs both ends more than it saves on the wire of a cluster
	})
	return server, authenticated, err
}
