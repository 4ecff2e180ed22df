package redisstore

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Kinds of deployment.
const (
	standalone = "standalone"
	cluster    = "cluster"
	sentinel   = "sentinel"
)

// Limits of the connection to one node.
const (
	dialTimeout  = 2 * time.Second
	replyTimeout = 3 * time.Second // a node that takes longer counts as away
	poolSize     = 8               // connections besides those of the pipelines
	batchBuffers = 64 << 10        // bytes, each way, of a pipeline's connection
)

// address is a parsed store URL. Its errors never carry the URL: that has a password.
type address struct {
	kind        string
	hosts       []string // host:port
	master      string   // sentinel
	user        string
	password    string
	db          int
	tls         bool
	ca          string         // file of the authority that is trusted instead of the system's
	roots       *x509.CertPool // read from ca
	replication replication
}

// CheckURL says what is wrong with a store's URL, its settings and the file of
// its authority included. It connects to nothing, and never repeats the URL.
func CheckURL(text string) error {
	a, err := parseURL(text)
	if err != nil {
		return err
	}
	return a.trust()
}

func parseURL(text string) (address, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	kinds := map[string]string{"redis": standalone, "rediss": standalone, "redis+cluster": cluster, "redis+sentinel": sentinel}
	a := address{kind: kinds[scheme], tls: scheme == "rediss"}
	if !ok || a.kind == "" {
		return a, errors.New("the store URL must begin with redis://, rediss://, redis+cluster:// or redis+sentinel://")
	}
	rest, query, _ := strings.Cut(rest, "?")
	if err := a.parseQuery(query); err != nil {
		return a, err
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		if err := a.parseUser(rest[:at]); err != nil {
			return a, err
		}
		rest = rest[at+1:]
	}
	hosts, path, _ := strings.Cut(rest, "/")
	if err := a.parseHosts(hosts); err != nil {
		return a, err
	}
	return a, a.parsePath(path)
}

func (a *address) parseQuery(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("the store URL's part after ? cannot be read")
	}
	for name, value := range values {
		if len(value) != 1 {
			return fmt.Errorf("the store URL has the setting %q more than once", name)
		}
		if err := a.parseSetting(name, value[0]); err != nil {
			return err
		}
	}
	if a.replication.synced && a.replication.replicas == 0 {
		return errors.New("the store URL's synced=true needs replicas=N: how many replicas to wait for")
	}
	if a.ca != "" && !a.tls {
		return errors.New("the store URL's ca is for TLS: use rediss://, or tls=true")
	}
	return nil
}

func (a *address) parseSetting(name, value string) (err error) {
	switch name {
	case "tls":
		a.tls, err = strconv.ParseBool(value)
	case "synced":
		a.replication.synced, err = strconv.ParseBool(value)
	case "ca":
		a.ca = value
	case "replicas":
		if a.replication.replicas, err = strconv.Atoi(value); err != nil || a.replication.replicas < 0 || a.replication.replicas > replicasMax {
			return fmt.Errorf("the store URL's replicas must be a number from 0 to %d", replicasMax)
		}
	default:
		if strings.ContainsRune(name, '@') { // a password with a question mark in it
			return errors.New("the store URL has an @ behind its ?; write a ? in a password as %3F")
		}
		return fmt.Errorf("the store URL has an unknown setting %q; there are tls, ca, replicas and synced", name)
	}
	if err != nil {
		return fmt.Errorf("the store URL's %s must be true or false", name)
	}
	return nil
}

func (a *address) parseUser(info string) error {
	user, password, both := strings.Cut(info, ":")
	if !both {
		return errors.New("the store URL's credentials must be user:password@ or :password@")
	}
	var err1, err2 error
	a.user, err1 = url.PathUnescape(user)
	a.password, err2 = url.PathUnescape(password)
	if err1 != nil || err2 != nil {
		return errors.New("the store URL's user or password has a bad %-escape")
	}
	return nil
}

func (a *address) parseHosts(hosts string) error {
	port := "6379"
	if a.kind == sentinel {
		port = "26379"
	}
	for host := range strings.SplitSeq(hosts, ",") {
		name, given, err := net.SplitHostPort(host)
		if err != nil {
			name, given = strings.Trim(host, "[]"), port
		}
		if name == "" && hosts != "" {
			return errors.New("the store URL has an empty host")
		}
		if name == "" {
			name = "localhost"
		}
		if n, err := strconv.Atoi(given); err != nil || n < 1 || n > 65535 {
			return errors.New("the store URL has a bad port")
		}
		a.hosts = append(a.hosts, net.JoinHostPort(name, given))
	}
	if a.kind == standalone && len(a.hosts) > 1 {
		return errors.New("several hosts need redis+cluster:// or redis+sentinel://")
	}
	return nil
}

func (a *address) parsePath(path string) error {
	if a.kind == sentinel {
		a.master, path, _ = strings.Cut(path, "/")
		if a.master == "" {
			return errors.New("the store URL must name the master: redis+sentinel://host,host/master")
		}
	}
	if path == "" {
		return nil
	}
	db, err := strconv.Atoi(path)
	if err != nil || db < 0 || a.kind == cluster && db != 0 {
		return errors.New("the store URL's database must be a number; a cluster has only 0")
	}
	a.db = db
	return nil
}

// tlsConfig leaves the server's name to the dialler: each node has its own.
func (a address) tlsConfig() *tls.Config {
	if !a.tls {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: a.roots}
}

// trust reads the authority's file.
func (a *address) trust() error {
	if a.ca == "" {
		return nil
	}
	text, err := os.ReadFile(a.ca)
	if err != nil {
		return fmt.Errorf("the store URL's ca cannot be read: %w", err)
	}
	a.roots = x509.NewCertPool()
	if !a.roots.AppendCertsFromPEM(text) {
		return fmt.Errorf("the store URL's ca %s holds no certificate in PEM form", a.ca)
	}
	return nil
}

// advised adds to an error of TLS what to do about it.
func advised(err error) error {
	if _, unverified := errors.AsType[*tls.CertificateVerificationError](err); !unverified {
		return err
	}
	return fmt.Errorf("%w: give the file of the authority that signed the server's certificate as ?ca=FILE in the store's URL, and reach the server by a name that the certificate has", err)
}

// pipelines is how many connections the workers of a node may need, and one.
func (a address) pipelines() int {
	if a.replication.replicas > 0 {
		return 2*pipelinesPerNode + 1
	}
	return pipelinesPerNode + 1
}

// client connects to one node. Nothing is ever sent twice by it: what may be
// repeated is decided in call.go.
func (a address) client(host string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: host, Username: a.user, Password: a.password, DB: a.db, TLSConfig: a.tlsConfig(),
		Protocol: 2, MaxRetries: -1, DialerRetries: 1, DialTimeout: dialTimeout,
		ReadTimeout: replyTimeout, WriteTimeout: replyTimeout, ContextTimeoutEnabled: true,
		PoolSize: poolSize, PoolTimeout: replyTimeout, PipelinePoolSize: a.pipelines(),
		PipelineReadBufferSize: batchBuffers, PipelineWriteBufferSize: batchBuffers, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// sentinelClient connects to whatever the sentinels call the master.
func (a address) sentinelClient() *redis.Client {
	return redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: a.master, SentinelAddrs: a.hosts, Username: a.user, Password: a.password, DB: a.db,
		TLSConfig: a.tlsConfig(), Protocol: 2, MaxRetries: -1, DialerRetries: 1, DialTimeout: dialTimeout,
		ReadTimeout: replyTimeout, WriteTimeout: replyTimeout, ContextTimeoutEnabled: true,
		PoolSize: poolSize, PoolTimeout: replyTimeout, PipelinePoolSize: a.pipelines(),
		PipelineReadBufferSize: batchBuffers, PipelineWriteBufferSize: batchBuffers, DisableIdentity: true,
	})
}
