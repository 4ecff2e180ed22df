package telegram

import (
	"fmt"
	"strings"

	"parley/adapters"
)

// file is what all of Telegram's kinds of file have in common.
type file struct {
	FileID   string `json:"file_id"`
	FileName string `json:"file_name"`
	MIMEType string `json:"mime_type"`
	FileSize int64  `json:"file_size"`
	Emoji    string `json:"emoji"` // stickers
}

// media are the fields of a message that hold something besides text.
type media struct {
	Photo     []file `json:"photo"` // the same picture in several sizes
	Voice     *file  `json:"voice"`
	Audio     *file  `json:"audio"`
	Video     *file  `json:"video"`
	VideoNote *file  `json:"video_note"`
	Animation *file  `json:"animation"`
	Document  *file  `json:"document"`
	Sticker   *file  `json:"sticker"`
	Location  *struct {
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
	} `json:"location"`
	Venue *struct {
		Title   string `json:"title"`
		Address string `json:"address"`
	} `json:"venue"`
	Contact *struct {
		PhoneNumber string `json:"phone_number"`
		FirstName   string `json:"first_name"`
		LastName    string `json:"last_name"`
	} `json:"contact"`
	Poll *struct {
		Question string `json:"question"`
	} `json:"poll"`
	Dice *struct {
		Emoji string `json:"emoji"`
		Value int    `json:"value"`
	} `json:"dice"`
	Story     *struct{} `json:"story"`
	PaidMedia *struct{} `json:"paid_media"`
	Game      *struct {
		Title string `json:"title"`
	} `json:"game"`
}

// attachments lists what came with a message. An animation comes as a
// document too, and a venue as a location, and each counts once.
func (m media) attachments() []adapters.Attachment {
	var list []adapters.Attachment
	add := func(kind string, f *file) {
		if f != nil {
			list = append(list, adapters.Attachment{Kind: kind, Name: f.FileName, MIME: f.MIMEType, Size: f.FileSize, Ref: f.FileID})
		}
	}
	add("photo", largest(m.Photo))
	add("voice", m.Voice)
	add("audio", m.Audio)
	add("video", m.Video)
	add("video", m.VideoNote)
	add("video", m.Animation)
	if m.Animation == nil {
		add("document", m.Document)
	}
	if m.Sticker != nil {
		m.Sticker.FileName = m.Sticker.Emoji
		add("sticker", m.Sticker)
	}
	return append(list, m.withoutFile()...)
}

func largest(sizes []file) *file {
	if len(sizes) == 0 {
		return nil
	}
	best := &sizes[0]
	for i := range sizes {
		if sizes[i].FileSize >= best.FileSize {
			best = &sizes[i]
		}
	}
	return best
}

func (m media) withoutFile() []adapters.Attachment {
	var list []adapters.Attachment
	add := func(kind, name string) { list = append(list, adapters.Attachment{Kind: kind, Name: name}) }
	switch {
	case m.Venue != nil:
		add("location", strings.TrimSpace(m.Venue.Title+" "+m.Venue.Address))
	case m.Location != nil:
		add("location", fmt.Sprintf("%.6f,%.6f", m.Location.Latitude, m.Location.Longitude))
	}
	if c := m.Contact; c != nil {
		add("contact", strings.TrimSpace(fullName(c.FirstName, c.LastName)+" "+c.PhoneNumber))
	}
	if m.Poll != nil {
		add("other", "poll: "+m.Poll.Question)
	}
	if m.Dice != nil {
		add("other", fmt.Sprintf("%s %d", m.Dice.Emoji, m.Dice.Value))
	}
	if m.Story != nil {
		add("other", "story")
	}
	if m.PaidMedia != nil {
		add("other", "paid media")
	}
	if m.Game != nil {
		add("other", "game: "+m.Game.Title)
	}
	return list
}

func fullName(first, last string) string { return strings.TrimSpace(first + " " + last) }
