package redisstore

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed lua/*.lua lua/lib/*.lua
var luaFiles embed.FS

// script is one operation: lua/<name>.lua as a function of a library.
type script struct {
	name     string
	function string   // its name on the server
	library  *library // has it
	waits    bool     // in safe mode it has succeeded when replicas have it
}

// scripts are all operations.
type scripts struct {
	post, claim, renew, appendTo, commit, stop, again, deadList, deadDrop, deadReplay  *script
	open, get, bound, update, rotate, rangeOf, records                                 *script
	enqueue, take, settle, forwardRead, forwardApply, forwardDone                      *script
	timerSet, timerEnd, timerFire, lock, lockSave, lockRelease                         *script
	find, touch, attach, detach, leave, expire, note, clear, job, remove, stale, sweep *script
	stage, implant, jobs, dumpSession, dumpKey, dumpLock, restoreLock                  *script
	restoreEntries, restoreTimer, restoreDead, restoreRow, restoreSchedule, restoreRun *script
	who, userRole, userOffer, userReserve, userYield, userList                         *script
	chat, moveRead, moveTo, moveSession, moveFrom, due, ping, meta                     *script
	scheduleSave, scheduleGet, scheduleList, scheduleRemove, scheduleRuns              *script
}

func loadScripts() (*scripts, error) {
	var s scripts
	texts := map[string]string{}
	for name := range s.byName() {
		text, err := luaFiles.ReadFile("lua/" + name + ".lua")
		if err != nil {
			return nil, fmt.Errorf("script %s: %w", name, err)
		}
		texts[name] = string(text)
	}
	made, err := newLibrary(texts)
	if err != nil {
		return nil, err
	}
	for name, target := range s.byName() {
		*target = made.script(name)
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
		"ping": &s.ping, "meta": &s.meta, "touch": &s.touch, "attach": &s.attach, "detach": &s.detach, "leave": &s.leave,
		"expire": &s.expire, "find": &s.find, "note": &s.note, "clear": &s.clear, "job": &s.job,
		"delete": &s.remove, "stale": &s.stale, "sweep": &s.sweep, "who": &s.who,
		"stage": &s.stage, "implant": &s.implant, "jobs": &s.jobs,
		"dump_session": &s.dumpSession, "dump_key": &s.dumpKey, "dump_lock": &s.dumpLock, "restore_lock": &s.restoreLock, "restore_entries": &s.restoreEntries,
		"restore_timer": &s.restoreTimer, "restore_dead": &s.restoreDead, "restore_row": &s.restoreRow,
		"restore_schedule": &s.restoreSchedule, "restore_run": &s.restoreRun,
		"user_role": &s.userRole, "user_offer": &s.userOffer, "user_reserve": &s.userReserve,
		"user_yield": &s.userYield, "user_list": &s.userList,
		"schedule_save": &s.scheduleSave, "schedule_get": &s.scheduleGet, "schedule_list": &s.scheduleList,
		"schedule_remove": &s.scheduleRemove, "schedule_runs": &s.scheduleRuns, "records": &s.records,
	}
}

// libraryPrefix begins the name of every library of a gateway, of any version.
const libraryPrefix = "parley_"

// library is what a server is given. Its name, and with it those of its
// functions, tells its content: gateways of different versions use different
// ones beside each other, and never a changed one of the same name.
type library struct {
	name  string
	text  string
	reads map[string]bool // the operations that only read
}

// newLibrary puts lua/lib and these operations together.
func newLibrary(operations map[string]string) (*library, error) {
	l := &library{reads: map[string]bool{}}
	var body strings.Builder
	for _, part := range []string{"core", "record", "log", "turn", "lane", "timer", "dead", "life", "walk", "user"} { // each may use those before it
		text, err := luaFiles.ReadFile("lua/lib/" + part + ".lua")
		if err != nil {
			return nil, fmt.Errorf("script library %s: %w", part, err)
		}
		body.Write(text)
	}
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		shebang, text, _ := strings.Cut(operations[name], "\n")
		flags := ""
		if l.reads[name] = strings.Contains(shebang, "no-writes"); l.reads[name] {
			flags = ", flags = {'no-writes'}"
		}
		fmt.Fprintf(&body, "\nredis.register_function{function_name = LIBRARY .. '_%s'%s, callback = function(KEYS, ARGV)\nenter(KEYS, ARGV)\n%send}\n", name, flags, text)
	}
	sum := sha256.Sum256([]byte(body.String()))
	l.name = libraryPrefix + hex.EncodeToString(sum[:8])
	l.text = fmt.Sprintf("#!lua name=%s\nlocal LIBRARY = '%s'\n%s", l.name, l.name, body.String())
	return l, nil
}

// script is an operation of the library.
func (l *library) script(name string) *script {
	return &script{name: name, function: l.name + "_" + name, library: l, waits: !l.reads[name] && !slices.Contains(unwaited(), name)}
}
