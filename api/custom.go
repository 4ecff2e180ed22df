package api

import (
	"context"
	"encoding/json"

	"parley/conversations"
	"parley/sessions"
)

type customRequest struct {
	Type     sessions.EntryType `json:"type"` // custom_info or custom_message
	Name     string             `json:"name"` // whose it is: a word of the program's own
	Text     string             `json:"text"` // custom_message: what people see
	ForModel bool               `json:"for_model"`
	Data     json.RawMessage    `json:"data"`
	// ParentID writes only while this entry is the leaf; null: the root.
	ParentID leafID `json:"parent_id"`
}

// leafID is an entry id of a request. given tells null from missing.
type leafID struct {
	given bool
	id    string
}

// UnmarshalJSON reads an id or null.
func (l *leafID) UnmarshalJSON(data []byte) error {
	l.given = true
	return json.Unmarshal(data, &l.id)
}

// seq is the entry's; nil: it is missing, 0: null.
func (l leafID) seq() (*int64, error) {
	if !l.given {
		return nil, nil //nolint:nilnil // missing is no error
	}
	seq, err := sessions.ParseEntryID(l.id)
	return &seq, err
}

func (q customRequest) custom() (conversations.Custom, error) {
	leaf, err := q.ParentID.seq()
	return conversations.Custom{Type: q.Type, Name: q.Name, Text: q.Text, ForModel: q.ForModel, Data: q.Data, IfLeaf: leaf}, err
}

// postCustom writes an entry of an outside program behind the leaf.
func (s *Server) postCustom(ctx context.Context, a asked, body customRequest) (any, error) {
	custom, err := body.custom()
	if err != nil {
		return nil, err
	}
	return s.noted(s.room.Write(ctx, a.by, a.id, custom, a.key))
}
