package storetest

import "parley/sessions"

// spoken is what the bot says first on a surface, which it takes for a kind.
func (tr *trial) spoken(source sessions.Source) sessions.Record {
	tr.Helper()
	r := tr.heard("good morning")
	r.Message.Role, r.UserID, r.New.Source = sessions.RoleAssistant, "", source
	return tr.get(tr.post(r).Session)
}

// from is a message of a person on the surface, which shows what it is.
func (tr *trial) from(kind sessions.Type) sessions.Record {
	tr.Helper()
	r := tr.heard("good morning to you")
	r.New.Source.Type = kind
	return tr.get(tr.post(r).Session)
}

// of are the ids of the sessions of a type.
func (tr *trial) of(kind sessions.Type) []string {
	tr.Helper()
	return tr.found(sessions.Query{Type: kind})
}

func postShowsAGroup(tr *trial) {
	id := tr.spoken(sessions.Source{Kind: "channel", Platform: "telegram", Type: sessions.Direct}).ID
	record := tr.from(sessions.Group)
	tr.check(record.ID == id && record.Source == sessions.Source{Kind: "channel", Platform: "telegram", Type: sessions.Group}, "it is %+v", record.Source)
	equalSlices(tr, "groups", tr.of(sessions.Group), []string{id})
	equalSlices(tr, "direct ones", tr.of(sessions.Direct), []string{})
	tr.wantErr(tr.store.Delete(tr.ctx, id), sessions.ErrGroup)
	equal(tr, "a group stays one", tr.from(sessions.Direct).Source.Type, sessions.Group)
}

func postShowsADirectChat(tr *trial) {
	assumed := sessions.Source{Kind: "channel", Platform: "discord", Type: sessions.Group, Assumed: true}
	record := tr.spoken(assumed)
	equal(tr, "source", record.Source, assumed)
	equal(tr, "another guess changes nothing", tr.spoken(sessions.Source{Type: sessions.Direct, Assumed: true}).Source, assumed)
	record = tr.from(sessions.Direct)
	equal(tr, "source", record.Source, sessions.Source{Kind: "channel", Platform: "discord", Type: sessions.Direct})
	equalSlices(tr, "direct ones", tr.of(sessions.Direct), []string{record.ID})
	equalSlices(tr, "groups", tr.of(sessions.Group), []string{})
	tr.do(tr.store.Delete(tr.ctx, record.ID))
}

func postShowsNothingOfOtherSurfaces(tr *trial) {
	assumed := sessions.Source{Kind: "channel", Platform: "discord", Type: sessions.Group, Assumed: true}
	id := tr.spoken(assumed).ID
	byID := tr.into(id, "written to its id")
	byID.New.Source.Type = sessions.Direct
	tr.post(byID)
	equal(tr, "after a message to its id", tr.get(id).Source, assumed)
	tr.attach(id, "discord:1:2")
	equal(tr, "where others may read along", tr.from(sessions.Direct).Source, assumed)
}
