package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
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
	kind     string
	hosts    []string // host:port
	master   string   // sentinel
	user     string
	password string
	db       int
	tls      bool
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
		if name != "tls" || len(value) != 1 {
			return fmt.Errorf("the store URL has an unknown or repeated setting %q; there is only tls=true|false", name)
		}
		if a.tls, err = strconv.ParseBool(value[0]); err != nil {
			return errors.New("the store URL's tls must be true or false")
		}
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
	return &tls.Config{MinVersion: tls.VersionTLS12}
}

// quiet keeps the client library from writing to standard error by itself:
// what it has to say comes back as errors.
type quiet struct{}

// Printf drops the line.
func (quiet) Printf(context.Context, string, ...any) {}

// client connects to one node. Nothing is ever sent twice by it: what may be
// repeated is decided in call.go.
func (a address) client(host string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: host, Username: a.user, Password: a.password, DB: a.db, TLSConfig: a.tlsConfig(),
		Protocol: 2, MaxRetries: -1, DialerRetries: 1, DialTimeout: dialTimeout,
		ReadTimeout: replyTimeout, WriteTimeout: replyTimeout, ContextTimeoutEnabled: true,
		PoolSize: poolSize, PoolTimeout: replyTimeout, PipelinePoolSize: pipelinesPerNode + 1,
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
		PoolSize: poolSize, PoolTimeout: replyTimeout, PipelinePoolSize: pipelinesPerNode + 1,
		PipelineReadBufferSize: batchBuffers, PipelineWriteBufferSize: batchBuffers, DisableIdentity: true,
	})
}
