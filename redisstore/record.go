package redisstore

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"parley/sessions"
)

// cold is the part of a record that rarely changes. As stored it is a map of
// texts, one list and one map of texts, so that scripts can change one without
// touching what they cannot represent. Metadata is JSON key to JSON value.
type cold struct {
	texts    map[string]string // by their names: see lua/lib/record.lua
	surfaces []string
	metadata map[string]string
}

// pack is how it is stored.
func (c cold) pack() string {
	var p packer
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(c.texts)), func(name string) bool { return c.texts[name] == "" })
	count := len(names) + min(len(c.surfaces), 1) + min(len(c.metadata), 1)
	p.mapOf(count)
	for _, name := range names {
		p.text(name)
		p.text(c.texts[name])
	}
	if len(c.surfaces) > 0 {
		p.text("sf")
		p.texts(c.surfaces)
	}
	if len(c.metadata) > 0 {
		p.text("md")
		p.pairs(c.metadata)
	}
	return string(p.out)
}

// parseCold reads what pack, or a script, wrote.
func parseCold(text string) (cold, error) {
	c := cold{texts: map[string]string{}}
	p := packed{rest: text}
	for range p.length() {
		name, _ := p.value()
		switch name {
		case "sf":
			c.surfaces = p.texts()
		case "md":
			c.metadata = p.pairs()
		default:
			c.texts[name], _ = p.value()
		}
		if p.err != nil {
			return cold{}, p.err
		}
	}
	if p.rest != "" {
		p.err = errReply
	}
	return c, p.err
}

// coldOf is the cold part of a new session.
func coldOf(n sessions.NewSession, surface string) (string, error) {
	source, err := json.Marshal(n.Source)
	if err != nil {
		return "", err
	}
	c := cold{texts: map[string]string{"src": string(source), "us": n.UserID, "ws": n.WorkspaceID, "nm": n.Name, "ag": n.Agent}}
	if surface != "" {
		c.surfaces = []string{surface}
	}
	c.metadata, err = members(n.Metadata)
	return c.pack(), err
}

// members encodes a JSON object, without what is nil.
func members(object map[string]any) (map[string]string, error) {
	out := map[string]string{}
	for key, value := range object {
		if value == nil {
			continue
		}
		k, v, err := member(key, value)
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

// member encodes one member of a JSON object.
func member(key string, value any) (k, v string, err error) {
	name, err := json.Marshal(key)
	if err != nil {
		return "", "", err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", "", &sessions.InvalidError{What: "metadata", Why: err.Error()}
	}
	return string(name), string(text), nil
}

// object decodes what member encoded.
func (c cold) object() (map[string]any, error) {
	if len(c.metadata) == 0 {
		return nil, nil //nolint:nilnil // no metadata is a nil map
	}
	object := []byte("{")
	for _, key := range slices.Sorted(maps.Keys(c.metadata)) {
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(append(append(object, key...), ':'), c.metadata[key]...)
	}
	var m map[string]any
	err := json.Unmarshal(append(object, '}'), &m)
	return m, err
}

// hot is the part of a record that changes with every message.
type hot struct {
	sessions.Record        // but for its id and what is in the cold part
	participant     string // the first one
	turn            string // the open or last turn: see lua/lib/turn.lua
	tip             int64  // above 0 while a turn is open
	attempts        int64
	placed          int64
	stop            bool
}

// parseHot reads it as stored: see lua/lib/record.lua. What only scripts read
// is left out.
func parseHot(text string) (hot, error) {
	var h hot
	p := packed{rest: text}
	for range p.length() {
		name, _ := p.value()
		text, number := p.value()
		if p.err != nil {
			return hot{}, p.err
		}
		if !h.setText(name, text) && !h.setNumber(name, number) {
			h.setTurn(name, number)
		}
	}
	if p.err == nil && (p.rest != "" || h.State == "") {
		p.err = errReply
	}
	return h, p.err
}

func (h *hot) setText(name, text string) bool {
	switch name {
	case "st":
		h.State = sessions.State(text)
	case "su":
		h.Status = sessions.Status(text)
	case "pv":
		h.Preview = text
	case "us":
		h.participant = text
	case "la":
		h.turn = text
	default:
		return false
	}
	return true
}

func (h *hot) setNumber(name string, number int64) bool {
	switch name {
	case "ac":
		h.LastActivityAt = fromMillis(number)
	case "cr":
		h.CreatedAt = fromMillis(number)
	case "ch":
		h.StateChangedAt = fromMillis(number)
	case "n":
		h.Seq = number
	case "cl":
		h.Cleared = number
	case "lf":
		h.Leaf = number
	case "mc":
		h.MessageCount = number
	case "tc":
		h.TurnCount = number
	case "ep":
		h.Epoch = number
	case "vr":
		h.Version = number
	case "ct":
		h.ContextTokens = number
	case "qn":
		h.Queued = int(number)
	default:
		return false
	}
	return true
}

func (h *hot) setTurn(name string, number int64) {
	switch name {
	case "tp":
		h.tip = number
	case "at":
		h.attempts = number
	case "tn":
		h.placed = number
	case "sp":
		h.stop = number != 0
	}
}

// record reads what the scripts' record function returns.
func (r *reply) record() (sessions.Record, error) {
	h, err := r.whole()
	return h.Record, err
}

// whole reads the same with what is not in a sessions.Record.
func (r *reply) whole() (hot, error) {
	id, hotText, coldText, others := r.text(), r.text(), r.text(), r.list().texts()
	if r.err != nil {
		return hot{}, r.err
	}
	h, err := parseHot(hotText)
	if err != nil {
		return hot{}, err
	}
	c, err := parseCold(coldText)
	if err != nil {
		return hot{}, err
	}
	h.ID = id
	if h.participant != "" {
		h.Participants = append([]string{h.participant}, others...)
	}
	return h, c.fill(&h.Record)
}

func (c cold) fill(out *sessions.Record) (err error) {
	t := c.texts
	out.UserID, out.WorkspaceID, out.Name, out.Agent = t["us"], t["ws"], t["nm"], t["ag"]
	out.Description, out.DescriptionSource = t["ds"], sessions.DescriptionSource(t["dss"])
	out.WorkingMemory, out.ParentSession, out.Surfaces = t["wm"], t["ps"], c.surfaces
	if t["ks"] != "" {
		if _, err := fmt.Sscan(t["ks"], &out.Checkpoint.Seq, &out.Checkpoint.Turns); err != nil {
			return err
		}
	}
	if err := json.Unmarshal([]byte(t["src"]), &out.Source); err != nil {
		return err
	}
	out.Metadata, err = c.object()
	return err
}

// checkpointText is a checkpoint as stored: its numbers, or nothing.
func checkpointText(c sessions.Checkpoint) string {
	if c == (sessions.Checkpoint{}) {
		return ""
	}
	return fmt.Sprint(c.Seq, c.Turns)
}

// patchArgs are a patch's arguments: see readpatch.
func patchArgs(p sessions.Patch) ([]any, error) {
	args := []any{0}
	add := func(kind, name, value string) { args = append(args, kind, name, value) }
	for name, text := range map[string]*string{"nm": p.Name, "wm": p.WorkingMemory, "ag": p.Agent} {
		if text != nil {
			add("cold", name, *text)
		}
	}
	if p.Checkpoint != nil {
		add("cold", "ks", checkpointText(*p.Checkpoint))
	}
	if p.ContextTokens != nil {
		add("tokens", "", strconv.FormatInt(*p.ContextTokens, 10))
	}
	if p.Preview != nil {
		add("preview", "", sessions.PreviewOf(*p.Preview))
	}
	if p.Description != nil {
		add("describe", string(p.Description.Source), sessions.DescriptionOf(p.Description.Text))
	}
	for key, value := range p.Metadata {
		name, text, err := member(key, value)
		if err != nil {
			return nil, err
		}
		if value == nil {
			text = ""
		}
		add("metadata", name, text)
	}
	args[0] = (len(args) - 1) / 3
	return args, nil
}
