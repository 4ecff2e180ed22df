package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// binder puts a YAML tree into a struct and collects every problem on the way,
// where a decoder would stop at the first.
type binder struct {
	file     string
	environ  Environ
	places   map[string]ast.Node // where each path was set
	problems Errors
}

func (b *binder) complain(node ast.Node, path, format string, args ...any) {
	problem := Problem{Path: path, File: b.file, What: fmt.Sprintf(format, args...)}
	problem.Line, problem.Column = position(node)
	b.problems = append(b.problems, problem)
}

func position(node ast.Node) (line, column int) {
	if node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
		return 0, 0
	}
	p := node.GetToken().Position
	return p.Line, p.Column
}

func (b *binder) bind(node ast.Node, target reflect.Value, path string) {
	if node == nil || node.Type() == ast.NullType {
		return // a key without a value is one that was not set
	}
	if path != "" {
		b.places[path] = node
	}
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	_, isText := reflect.TypeAssert[encoding.TextUnmarshaler](target.Addr())
	switch {
	case isText || target.Kind() == reflect.String || target.Kind() == reflect.Bool || target.Kind() == reflect.Int:
		b.bindScalar(node, target, path)
	case target.Kind() == reflect.Struct:
		b.bindMapping(node, target, path)
	case target.Kind() == reflect.Slice:
		b.bindList(node, target, path)
	default:
		panic("config: no rule for a field of type " + target.Type().String())
	}
}

func (b *binder) bindMapping(node ast.Node, target reflect.Value, path string) {
	values, ok := mappingValues(node)
	if !ok {
		b.complain(node, path, "must be a mapping of keys to values")
		return
	}
	fields := fieldsByKey(target.Type())
	for _, value := range values {
		key := value.Key.GetToken().Value
		field, known := fields[key]
		if !known {
			b.complain(value.Key, joinPath(path, key), "%s", unknownKey(key, target.Type()))
			continue
		}
		b.bind(value.Value, target.FieldByIndex(field.Index), joinPath(path, key))
	}
}

func (b *binder) bindList(node ast.Node, target reflect.Value, path string) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		b.complain(node, path, "must be a list, as in [a, b]")
		return
	}
	for i, item := range list.Values {
		element := reflect.New(target.Type().Elem()).Elem()
		b.bind(item, element, fmt.Sprintf("%s[%d]", path, i))
		target.Set(reflect.Append(target, element))
	}
}

func (b *binder) bindScalar(node ast.Node, target reflect.Value, path string) {
	raw, ok := scalarText(node)
	if !ok {
		b.complain(node, path, "must be a single value")
		return
	}
	text, err := expand(raw, b.environ)
	if err != nil {
		b.complain(node, path, "%s", err)
		return
	}
	if err := setScalar(target, text); err != nil {
		b.complain(node, path, "%s", err)
	}
}

func setScalar(target reflect.Value, text string) error {
	if unmarshaler, ok := reflect.TypeAssert[encoding.TextUnmarshaler](target.Addr()); ok {
		return unmarshaler.UnmarshalText([]byte(text))
	}
	switch target.Kind() {
	case reflect.String:
		target.SetString(strings.TrimSpace(text))
		return nil
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("must be a whole number")
		}
		target.SetInt(int64(n))
		return nil
	}
	switch text {
	case "true", "false":
		target.SetBool(text == "true")
		return nil
	}
	return errors.New("must be true or false")
}

// scalarText is a scalar as it was written, so that a token of digits keeps
// its leading zeros.
func scalarText(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, true
	}
	return "", false
}

func mappingValues(node ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func fieldsByKey(t reflect.Type) map[string]reflect.StructField {
	fields := make(map[string]reflect.StructField, t.NumField())
	for field := range t.Fields() {
		fields[keyOf(field)] = field
	}
	return fields
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for field := range t.Fields() {
		keys = append(keys, keyOf(field))
	}
	return keys
}

func keyOf(field reflect.StructField) string {
	key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return key
}

func unknownKey(key string, t reflect.Type) string {
	if suggestion, ok := closest(key, keysOf(t)); ok {
		return fmt.Sprintf("unknown key; did you mean %q?", suggestion)
	}
	return "unknown key; known here are " + strings.Join(keysOf(t), ", ")
}
