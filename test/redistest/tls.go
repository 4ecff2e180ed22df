package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// StartTLS starts a server that speaks only TLS, with a certificate for
// 127.0.0.1 of an authority made for it. authority is the authority's file. The
// test is skipped, or fails where CI=true, if redis-server was built without TLS.
func StartTLS(tb testing.TB, settings ...string) (server *Server, authority string) {
	tb.Helper()
	Need(tb)
	folder := tb.TempDir()
	files := certificates{
		authority: filepath.Join(folder, "ca.pem"), certificate: filepath.Join(folder, "cert.pem"), key: filepath.Join(folder, "key.pem"),
	}
	pool, err := files.make()
	if err != nil {
		tb.Fatal(err)
	}
	settings = append([]string{"--tls-cert-file", files.certificate, "--tls-key-file", files.key,
		"--tls-ca-cert-file", files.authority, "--tls-auth-clients", "no"}, settings...)
	server, err = started(func() (*Server, error) {
		s, err := prepare(false, settings)
		if err == nil {
			s.secured = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		}
		return s, err
	})
	if err != nil {
		skip(tb, fmt.Errorf("a redis-server with TLS is missing: %w", err))
	}
	tb.Cleanup(server.Close)
	return server, files.authority
}

// certificates are the files of an authority and of a server that it vouches for.
type certificates struct{ authority, certificate, key string }

// make writes the files, and gives the authority as a pool.
func (f certificates) make() (*x509.CertPool, error) {
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "test server"}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	signedRoot, err := x509.CreateCertificate(rand.Reader, root, root, &rootKey.PublicKey, rootKey)
	if err != nil {
		return nil, err
	}
	signedLeaf, err := x509.CreateCertificate(rand.Reader, leaf, root, &leafKey.PublicKey, rootKey)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signedRoot}))
	return pool, f.write(signedRoot, signedLeaf, private)
}

func (f certificates) write(root, leaf, private []byte) error {
	for file, block := range map[string]*pem.Block{
		f.authority: {Type: "CERTIFICATE", Bytes: root}, f.certificate: {Type: "CERTIFICATE", Bytes: leaf}, f.key: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
