package api

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"parley/adapters"
)

//go:embed page
var pageFiles embed.FS

// pages are the documents, whose blanks are filled in at each visit, and the
// assets they name.
type pages struct {
	documents map[string]string
	assets    map[string][]byte
	version   string // of all assets together: part of their addresses
}

func newPages() (*pages, error) {
	p := &pages{documents: map[string]string{}, assets: map[string][]byte{}}
	head, err := pageFiles.ReadFile("page/head.html")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{chatDocument, loginDocument, welcomeDocument} {
		document, err := pageFiles.ReadFile("page/" + name)
		if err != nil {
			return nil, err
		}
		p.documents[name] = strings.ReplaceAll(string(document), "{{head}}", strings.TrimSpace(string(head)))
	}
	digest := sha256.New()
	err = fs.WalkDir(pageFiles, "page/assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := pageFiles.ReadFile(name)
		p.assets[path.Base(name)] = content
		digest.Write(content)
		return err
	})
	p.version = hex.EncodeToString(digest.Sum(nil))[:12]
	for name, content := range p.assets { // modules name each other as the documents name them
		p.assets[name] = bytes.ReplaceAll(content, []byte("{{assets}}"), []byte(p.version))
	}
	return p, err
}

func (p *pages) write(w http.ResponseWriter, status int, name string, data pageData) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, data.fill(p.documents[name])) // the caller may have gone
}

// chatPage is the page at /. Where it is open to this machine it signs the
// browser in, so that a page which outlived a restart only has to ask for /
// again.
func (s *Server) chatPage(w http.ResponseWriter, r *http.Request) error {
	signedIn, id, err := s.gate.signedIn(r)
	switch {
	case err != nil:
		return err
	case signedIn == 0 && !s.gate.mayOwn(r):
		return s.showLogin(w, http.StatusUnauthorized, "")
	case signedIn < SignedInFor-renewAfter:
		s.gate.cookies.signIn(w, r, id)
	}
	name := device(r)
	if name == "" {
		name = newDevice()
	}
	setCookie(w, r, deviceCookie, name, deviceFor)
	s.pages.write(w, http.StatusOK, chatDocument, s.pageData())
	return nil
}

// asset serves a file of the page. Its address changes with its content, so
// browsers may keep it for ever.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	content, known := s.pages.assets[name]
	if !known {
		return &problemError{Status: http.StatusNotFound, Code: "not_found", Detail: "There is no such file. Load the page again."}
	}
	w.Header().Set("Content-Type", contentType(name))
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == s.pages.version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(content) // the caller may have gone
	return nil
}

// contentType does not ask the machine's own tables, which differ.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}

func (s *Server) favicon(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/assets/icon.svg?v="+s.pages.version, http.StatusFound)
	return nil
}

type meJSON struct {
	Session  string        `json:"session,omitempty"` // the browser's current session
	Newest   int64         `json:"newest"`            // seq of its newest entry; 0: nobody has spoken yet
	Surface  string        `json:"surface,omitempty"`
	Bot      string        `json:"bot"`
	Model    string        `json:"model"`
	Demo     bool          `json:"demo"`
	Hint     string        `json:"hint,omitempty"`
	Version  string        `json:"version"`
	Commands []commandJSON `json:"commands"`
}

type commandJSON struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// me tells a browser which conversation is its own, and every client what it
// talks to.
func (s *Server) me(w http.ResponseWriter, r *http.Request) error {
	page := s.config.Page
	answer := meJSON{Bot: page.Bot, Model: page.Model, Demo: page.Demo, Hint: page.Hint,
		Version: s.config.Version, Commands: []commandJSON{}}
	for _, command := range page.Commands {
		answer.Commands = append(answer.Commands, commandJSON{Name: command.Name, Description: command.Description})
	}
	if name := device(r); name != "" {
		surface := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: name}
		current, err := s.currentSession(r.Context(), surface)
		if err != nil {
			return err
		}
		answer.Surface, answer.Session, answer.Newest = surface.Key(), current.ID, current.Seq
	}
	return writeJSON(w, http.StatusOK, answer)
}
