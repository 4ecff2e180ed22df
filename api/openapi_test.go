package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// document is openapi.json as the tests hold real requests and answers against
// it. Every object is closed: what is not described may not be there.
type document struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas    map[string]json.RawMessage
		Parameters map[string]parameter
		Responses  map[string]content
	}

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved
}

type parameter struct {
	Ref  string `json:"$ref"`
	Name string
	In   string
}

type content struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema json.RawMessage }
}

type described struct {
	Parameters  []parameter
	RequestBody *content
	Responses   map[string]content
}

func readDocument() (*document, error) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte("#/components/schemas/"), []byte("#/$defs/"))
	d := &document{resolved: map[string]*jsonschema.Resolved{}}
	return d, json.Unmarshal(text, d)
}

// openAPI is read once for all tests.
var openAPI = sync.OnceValues(readDocument)

// operation finds what is described for a request. A route of its own has no
// description.
func (d *document) operation(t *testing.T, method, path string) (o described, found bool) {
	t.Helper()
	best := ""
	for pattern := range d.Paths {
		if _, has := d.Paths[pattern][strings.ToLower(method)]; has && fits(pattern, path) && (best == "" || strings.Contains(best, "{")) {
			best = pattern
		}
	}
	if best == "" {
		return o, false
	}
	if err := json.Unmarshal(d.Paths[best][strings.ToLower(method)], &o); err != nil {
		t.Fatal(err)
	}
	return o, true
}

func fits(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool { return w == g || strings.HasPrefix(w, "{") && g != "" })
}

// valid holds a JSON text against a schema of the document.
func (d *document) valid(t *testing.T, what string, schema json.RawMessage, text string) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Errorf("%s is not JSON: %v in %s", what, err, text)
		return
	}
	if err := d.schema(t, schema).Validate(value); err != nil {
		t.Errorf("%s is not as described: %v in %s", what, err, text)
	}
}

func (d *document) schema(t *testing.T, schema json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if done := d.resolved[string(schema)]; done != nil {
		return done
	}
	var whole map[string]any
	defs := map[string]any{}
	for name, text := range d.Components.Schemas {
		var def any
		must(t, json.Unmarshal(text, &def))
		defs[name] = closed(def)
	}
	must(t, json.Unmarshal(schema, &whole))
	whole["$defs"] = defs
	text, err := json.Marshal(whole)
	must(t, err)
	var parsed jsonschema.Schema
	must(t, json.Unmarshal(text, &parsed))
	resolved, err := parsed.Resolve(nil)
	must(t, err)
	d.resolved[string(schema)] = resolved
	return resolved
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// closed refuses, in every object whose members are described, all others.
func closed(schema any) any {
	object, isObject := schema.(map[string]any)
	if !isObject {
		return schema
	}
	if properties, has := object["properties"].(map[string]any); has {
		object["additionalProperties"] = false
		for name := range properties {
			properties[name] = closed(properties[name])
		}
	}
	if items, has := object["items"]; has {
		object["items"] = closed(items)
	}
	return object
}

// checkExchange holds one real request and its answer against the document.
func checkExchange(t *testing.T, request *http.Request, sent string, got answer) {
	t.Helper()
	d, err := openAPI()
	must(t, err)
	path := request.URL.EscapedPath()
	if !strings.HasPrefix(path, "/v1/") && path != "/healthz" && path != "/readyz" || request.Method == http.MethodHead {
		return
	}
	what := request.Method + " " + path + " " + strconv.Itoa(got.status)
	o, found := d.operation(t, request.Method, path)
	if !found {
		if got.status < 400 {
			t.Errorf("%s is not described", what)
		}
		return
	}
	d.checkAnswer(t, what, o, got)
	if got.status < 300 {
		d.checkRequest(t, what, o, request, sent)
	}
}

func (d *document) checkAnswer(t *testing.T, what string, o described, got answer) {
	t.Helper()
	response, said := o.Responses[strconv.Itoa(got.status)]
	if name, isRef := strings.CutPrefix(response.Ref, "#/components/responses/"); isRef {
		response = d.Components.Responses[name]
	}
	if !said {
		if got.status != http.StatusMisdirectedRequest && got.status != http.StatusInternalServerError && got.status != http.StatusNotImplemented {
			t.Errorf("%s: the status is not described: %s", what, got.body)
		}
		return
	}
	kind := got.header.Get("Content-Type")
	body, said := response.Content[kind]
	switch {
	case !said && got.body != "":
		t.Errorf("%s: %q is not described", what, kind)
	case strings.HasSuffix(kind, "json"):
		d.valid(t, what, body.Schema, got.body)
	}
}

func (d *document) checkRequest(t *testing.T, what string, o described, request *http.Request, sent string) {
	t.Helper()
	var known []string
	for _, p := range o.Parameters {
		if name, isRef := strings.CutPrefix(p.Ref, "#/components/parameters/"); isRef {
			p = d.Components.Parameters[name]
		}
		if p.In == "query" {
			known = append(known, p.Name)
		}
	}
	query, _ := url.ParseQuery(request.URL.RawQuery)
	for name := range query {
		if !slices.Contains(known, name) {
			t.Errorf("%s: the parameter %s is not described", what, name)
		}
	}
	if o.RequestBody != nil && strings.HasPrefix(sent, "{") {
		if body, said := o.RequestBody.Content["application/json"]; said {
			d.valid(t, what+" (request)", body.Schema, sent)
		}
	}
}

// checkEvent holds one event of a stream against the document.
func checkEvent(t *testing.T, e event) {
	t.Helper()
	d, err := openAPI()
	must(t, err)
	schema := map[string]string{"user_message": "Entry", "message": "Entry", "tool_call": "Entry", "tool_result": "Entry", "feed": "Entry",
		"text_delta": "Delta", "status": "Status", "gap": "Gap", "moved": "Moved"}[e.name]
	if schema == "" {
		t.Errorf("the event %s is not described", e.name)
		return
	}
	d.valid(t, "the event "+e.name, json.RawMessage(`{"$ref":"#/$defs/`+schema+`"}`), e.data)
}
