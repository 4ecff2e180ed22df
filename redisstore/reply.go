package redisstore

import (
	"errors"
	"strconv"
	"time"
)

// errReply: a script answered something it never answers.
var errReply = errors.New("the store gave an answer that cannot be read")

// reply reads a script's answer part by part. After the first part that is
// not what was asked for, all are zero and err is set.
type reply struct {
	parts []any
	err   error
}

func read(val any) *reply {
	parts, ok := val.([]any)
	if !ok {
		return &reply{err: errReply}
	}
	return &reply{parts: parts}
}

func (r *reply) more() bool { return r.err == nil && len(r.parts) > 0 }

func (r *reply) next() any {
	if !r.more() {
		r.err = errReply
		return nil
	}
	part := r.parts[0]
	r.parts = r.parts[1:]
	return part
}

func (r *reply) text() string {
	text, ok := r.next().(string)
	if !ok {
		r.err = errReply
	}
	return text
}

// number reads an integer, also one written as text.
func (r *reply) number() int64 {
	switch part := r.next().(type) {
	case int64:
		return part
	case string:
		n, err := strconv.ParseInt(part, 10, 64)
		if err == nil {
			return n
		}
	}
	r.err = errReply
	return 0
}

func (r *reply) flag() bool { return r.number() != 0 }

func (r *reply) time() time.Time { return fromMillis(r.number()) }

// list reads a nested answer; its errors are its own.
func (r *reply) list() *reply {
	parts, ok := r.next().([]any)
	if !ok {
		r.err = errReply
	}
	return &reply{parts: parts, err: r.err}
}

// optional reads a nested answer, or 0 for "there is none": nil.
func (r *reply) optional() *reply {
	switch part := r.next().(type) {
	case []any:
		return &reply{parts: part}
	case int64:
		if part == 0 {
			return nil
		}
	}
	r.err = errReply
	return nil
}

// texts reads all parts as texts.
func (r *reply) texts() []string {
	var list []string
	for r.more() {
		list = append(list, r.text())
	}
	return list
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
