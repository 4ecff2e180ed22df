package discord

import (
	"strings"

	"github.com/bwmarrin/discordgo"

	"parley/adapters"
)

// markupMax bounds the markup that is looked for, in bytes.
const markupMax = 96

// plainText makes the text of a message readable: the bot's own mention is
// removed with the space before it, other mentions become @Name, and custom
// emoji their name.
func plainText(content string, mentions []*discordgo.User, bot string) string {
	names := map[string]string{}
	for _, user := range mentions {
		if user != nil {
			names[user.ID] = displayName(user, nil)
		}
	}
	_, named := names[bot]
	text := replaceMarkup(content, func(markup string) (string, bool) {
		id, mention := mentionedID(markup)
		switch {
		case mention && named && id == bot:
			return "", true
		case mention && names[id] != "":
			return "@" + names[id], true
		case mention:
			return "", false
		}
		return emojiName(markup)
	})
	if named && text != content {
		text = strings.TrimSpace(text)
	}
	return text
}

// replaceMarkup replaces each <…> for which replace says so. With one that is
// replaced by nothing goes one space before it.
func replaceMarkup(content string, replace func(markup string) (string, bool)) string {
	var out strings.Builder
	for {
		open := strings.IndexByte(content, '<')
		if open < 0 {
			out.WriteString(content)
			return out.String()
		}
		length := strings.IndexByte(content[open:min(len(content), open+markupMax)], '>') + 1
		text, ok := "", false
		if length > 0 {
			text, ok = replace(content[open : open+length])
		}
		switch {
		case !ok:
			out.WriteString(content[:open+1])
			content = content[open+1:]
			continue
		case text == "":
			out.WriteString(strings.TrimSuffix(content[:open], " "))
		default:
			out.WriteString(content[:open] + text)
		}
		content = content[open+length:]
	}
}

// mentionedID reads <@id> and <@!id>.
func mentionedID(markup string) (id string, ok bool) {
	id, ok = strings.CutPrefix(markup, "<@")
	id = strings.TrimSuffix(strings.TrimPrefix(id, "!"), ">")
	return id, ok && isSnowflake(id)
}

// emojiName reads <:name:id> and <a:name:id>.
func emojiName(markup string) (string, bool) {
	parts := strings.Split(strings.Trim(markup, "<>"), ":")
	if len(parts) != 3 || parts[0] != "" && parts[0] != "a" || parts[1] == "" || !isSnowflake(parts[2]) {
		return "", false
	}
	return ":" + parts[1] + ":", true
}

// writtenMention reports whether the text itself names the user.
func writtenMention(content, user string) bool {
	return strings.Contains(content, "<@"+user+">") || strings.Contains(content, "<@!"+user+">")
}

// attachments are the files and stickers of a message. Their reference is the
// attachment's id: its address is signed and expires.
func attachments(m message) []adapters.Attachment {
	var out []adapters.Attachment
	for _, file := range m.Attachments {
		if file != nil {
			out = append(out, adapters.Attachment{
				Kind: attachmentKind(file), Name: file.Filename, MIME: file.ContentType, Size: int64(max(file.Size, 0)), Ref: file.ID,
			})
		}
	}
	for _, sticker := range m.Stickers {
		if sticker != nil {
			out = append(out, adapters.Attachment{Kind: "sticker", Name: sticker.Name, Ref: sticker.ID})
		}
	}
	return out
}

func attachmentKind(file *discordgo.MessageAttachment) string {
	general, _, _ := strings.Cut(file.ContentType, "/")
	switch {
	case file.Waveform != "":
		return "voice"
	case general == "image":
		return "photo"
	case general == "audio", general == "video":
		return general
	}
	return "document"
}
