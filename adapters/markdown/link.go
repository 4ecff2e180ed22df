package markdown

import (
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// destination is where a link leads, if it may lead there: http, https, mailto
// and tel, with a host where the scheme has one. Platform schemes such as tg:
// are refused, because they can name people and start things.
func destination(raw []byte) (string, bool) {
	parsed, err := url.Parse(strings.TrimSpace(string(util.URLEscape(raw, true))))
	if err != nil {
		return "", false
	}
	switch strings.ToLower(parsed.Scheme) {
	case "http", "https":
		return parsed.String(), parsed.Host != ""
	case "mailto", "tel":
		return parsed.String(), parsed.Opaque != ""
	}
	return "", false
}

// relative is the destination of a link that names no scheme: of no use in a
// chat, but worth reading.
func relative(raw []byte) (string, bool) {
	dest := strings.TrimSpace(unescape(raw))
	if dest == "" || strings.HasPrefix(dest, "//") || strings.ContainsAny(dest, ":") {
		return "", false
	}
	return dest, true
}

// usedReferences are the labels of link definitions that some link refers to.
func usedReferences(root ast.Node) map[string]bool {
	used := map[string]bool{}
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if reference := referenceOf(node); entering && reference != nil {
			used[util.ToLinkReference(reference.Value)] = true
		}
		return ast.WalkContinue, nil
	})
	return used
}

func referenceOf(node ast.Node) *ast.ReferenceLink {
	switch n := node.(type) {
	case *ast.Link:
		return n.Reference
	case *ast.Image:
		return n.Reference
	}
	return nil
}
