package redisstore

import (
	"crypto/sha1" //nolint:gosec // Redis names scripts by SHA-1
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

//go:embed lua/*.lua lua/lib/*.lua
var luaFiles embed.FS

// script is one operation: lua/<name>.lua behind what it uses of lua/lib.
type script struct {
	name   string
	source string
	sha    string
	waits  bool // in safe mode it has succeeded when replicas have it
}

// scripts are all operations.
type scripts struct {
	post, claim, renew, appendTo, commit, stop, again, deadList, deadDrop, deadReplay  *script
	open, get, bound, update, rotate, rangeOf, records                                 *script
	enqueue, take, settle, forwardRead, forwardApply, forwardDone                      *script
	timerSet, timerEnd, timerFire, lock, lockSave, lockRelease                         *script
	find, touch, attach, detach, expire, note, clear, job, remove, stale, sweep        *script
	stage, implant, jobs, dumpSession, dumpKey                                         *script
	restoreEntries, restoreTimer, restoreDead, restoreRow, restoreSchedule, restoreRun *script
	who, userRole, userOffer, userReserve, userYield, userList                         *script
	chat, moveRead, moveTo, moveSession, moveFrom, due, ping, meta                     *script
	scheduleSave, scheduleGet, scheduleList, scheduleRemove, scheduleRuns              *script
}

func loadScripts() (*scripts, error) {
	var s scripts
	parts, err := readLibrary()
	if err != nil {
		return nil, err
	}
	for name, target := range s.byName() {
		loaded, err := loadScript(parts, name)
		if err != nil {
			return nil, err
		}
		*target = loaded
	}
	return &s, nil
}

func (s *scripts) byName() map[string]**script {
	return map[string]**script{
		"post": &s.post, "claim": &s.claim, "renew": &s.renew, "append": &s.appendTo, "commit": &s.commit,
		"stop": &s.stop, "again": &s.again, "dead_list": &s.deadList, "dead_drop": &s.deadDrop,
		"dead_replay": &s.deadReplay, "open": &s.open, "get": &s.get, "bound": &s.bound, "update": &s.update,
		"rotate": &s.rotate, "range": &s.rangeOf, "enqueue": &s.enqueue, "take": &s.take, "settle": &s.settle,
		"forward_read": &s.forwardRead, "forward_apply": &s.forwardApply, "forward_done": &s.forwardDone,
		"timer_set": &s.timerSet, "timer_end": &s.timerEnd, "timer_fire": &s.timerFire, "lock": &s.lock,
		"lock_save": &s.lockSave, "lock_release": &s.lockRelease, "chat": &s.chat, "move_read": &s.moveRead,
		"move_to": &s.moveTo, "move_session": &s.moveSession, "move_from": &s.moveFrom, "due": &s.due,
		"ping": &s.ping, "meta": &s.meta, "touch": &s.touch, "attach": &s.attach, "detach": &s.detach,
		"expire": &s.expire, "find": &s.find, "note": &s.note, "clear": &s.clear, "job": &s.job,
		"delete": &s.remove, "stale": &s.stale, "sweep": &s.sweep, "who": &s.who,
		"stage": &s.stage, "implant": &s.implant, "jobs": &s.jobs,
		"dump_session": &s.dumpSession, "dump_key": &s.dumpKey, "restore_entries": &s.restoreEntries,
		"restore_timer": &s.restoreTimer, "restore_dead": &s.restoreDead, "restore_row": &s.restoreRow,
		"restore_schedule": &s.restoreSchedule, "restore_run": &s.restoreRun,
		"user_role": &s.userRole, "user_offer": &s.userOffer, "user_reserve": &s.userReserve,
		"user_yield": &s.userYield, "user_list": &s.userList,
		"schedule_save": &s.scheduleSave, "schedule_get": &s.scheduleGet, "schedule_list": &s.scheduleList,
		"schedule_remove": &s.scheduleRemove, "schedule_runs": &s.scheduleRuns, "records": &s.records,
	}
}

// parts is the library taken apart.
type parts struct {
	texts []string       // definitions, in their order
	named map[string]int // which one gives a name
	needs [][]int        // which ones each uses; all stand before it
}

// library is the order of lua/lib: each part may use those before it.
func library() []string {
	return []string{"core", "record", "log", "turn", "lane", "timer", "dead", "life", "walk", "user"}
}

// readLibrary reads lua/lib.
func readLibrary() (*parts, error) {
	p := &parts{named: map[string]int{}}
	for _, part := range library() {
		text, err := luaFiles.ReadFile("lua/lib/" + part + ".lua")
		if err != nil {
			return nil, fmt.Errorf("script library %s: %w", part, err)
		}
		for _, text := range definitions(code(string(text))) {
			p.texts, p.needs = append(p.texts, text), append(p.needs, p.usedBy(text))
			for _, name := range defined(text) {
				p.named[name] = len(p.texts) - 1
			}
		}
	}
	return p, nil
}

// usedBy are the definitions whose names are words of a text.
func (p *parts) usedBy(text string) []int {
	var list []int
	for _, word := range words(text) {
		if i, found := p.named[word]; found {
			list = append(list, i)
		}
	}
	return list
}

// loadScript reads a script and puts it together: its first line, which tells Redis whether
// it writes, then itself, with what it uses of the library before its first
// use. Every run of a script defines these parts anew: so unused ones are left
// out, and a run that ends early does without those for what comes later.
func loadScript(parts *parts, name string) (*script, error) {
	body, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", name, err)
	}
	return assembled(parts, name, string(body)), nil
}

// assembled is a script of this text.
func assembled(parts *parts, name, body string) *script {
	shebang, rest, _ := strings.Cut(body, "\n")
	source := shebang + "\n" + parts.woven(code(rest))
	sum := sha1.Sum([]byte(source)) //nolint:gosec // Redis names scripts by SHA-1
	return &script{name: name, source: source, sha: hex.EncodeToString(sum[:]), waits: waits(name, source)}
}

// woven puts each definition that body uses, however indirectly, before the
// first of body's statements that does.
func (p *parts) woven(body string) string {
	var out strings.Builder
	there := make([]bool, len(p.texts))
	for _, statement := range statements(body) {
		for _, i := range p.used(statement) {
			if !there[i] {
				there[i] = true
				out.WriteString(p.texts[i])
			}
		}
		out.WriteString(statement)
	}
	return out.String()
}

// statements splits a script at the lines that are not indented and do not
// close or continue what is before them.
func statements(body string) []string {
	var list []string
	for line := range strings.Lines(body) {
		inside := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "end") || strings.HasPrefix(line, "else")
		if !inside || len(list) == 0 {
			list = append(list, "")
		}
		list[len(list)-1] += line
	}
	return list
}

// code leaves out the lines that are comments or empty.
func code(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, "--") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// definitions splits a library's text: each begins with "local" at the start
// of a line.
func definitions(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "local ") || len(list) == 0 {
			list = append(list, "")
		}
		list[len(list)-1] += line
	}
	return list
}

// used are the definitions that a text needs, in their order, and those that
// these need.
func (p *parts) used(text string) []int {
	wanted := make([]bool, len(p.texts))
	want := func(list []int) {
		for _, i := range list {
			wanted[i] = true
		}
	}
	want(p.usedBy(text))
	var kept []int
	for i := range slices.Backward(p.texts) {
		if wanted[i] {
			kept = append(kept, i)
			want(p.needs[i])
		}
	}
	slices.Reverse(kept)
	return kept
}

// defined are the names that a definition gives: "local function a(" or
// "local a, b = ".
func defined(text string) []string {
	head, _, _ := strings.Cut(strings.TrimPrefix(text, "local "), "=")
	head, _, _ = strings.Cut(strings.TrimPrefix(head, "function "), "(")
	return words(head)
}

func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
