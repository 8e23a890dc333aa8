package node

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// authority signs the certificates of the node.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// makePKI writes pki/<name>.crt and pki/<name>.key for each party, and a key pair for the tokens of service accounts.
func (n *Node) makePKI() error {
	key, err := newKey()
	if err != nil {
		return err
	}
	root := template(pkix.Name{CommonName: "multus-test"})
	root.IsCA, root.BasicConstraintsValid = true, true
	root.ExtKeyUsage = nil // else nothing but that below it
	root.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	ca := authority{root, key}
	if err := n.issue(ca, "ca", root, key); err != nil {
		return err
	}
	server := template(pkix.Name{CommonName: "kube-apiserver"})
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for name, certificate := range map[string]*x509.Certificate{
		"kube-apiserver":  server,
		"admin":           template(pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}}),
		"kubelet":         template(pkix.Name{CommonName: "system:node:" + Name, Organization: []string{"system:nodes"}}),
		"service-account": template(pkix.Name{CommonName: "service-account"}),
	} {
		key, err := newKey()
		if err != nil {
			return err
		}
		if err := n.issue(ca, name, certificate, key); err != nil {
			return err
		}
	}
	return nil
}

func newKey() (crypto.Signer, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func template(subject pkix.Name) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62)) // never fails
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

// issue writes a certificate and its key, and a public key by itself.
func (n *Node) issue(ca authority, name string, certificate *x509.Certificate, key crypto.Signer) error {
	signed, err := x509.CreateCertificate(rand.Reader, certificate, ca.certificate, key.Public(), ca.key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	for suffix, block := range map[string]pem.Block{
		".crt": {Type: "CERTIFICATE", Bytes: signed},
		".key": {Type: "PRIVATE KEY", Bytes: private},
		".pub": {Type: "PUBLIC KEY", Bytes: public},
	} {
		if err := n.write(string(pem.EncodeToMemory(&block)), "pki", name+suffix); err != nil {
			return err
		}
	}
	return nil
}
