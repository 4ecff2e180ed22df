package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// keptFile is where a violated experiment's evidence is, in its folder.
const keptFile = "evidence.txt"

// keep writes down what a verdict is made of, chat by chat, for whoever looks
// for the cause.
func (w *world) keep(e evidence) error {
	file, err := os.Create(filepath.Join(w.folder, keptFile))
	if err != nil {
		return err
	}
	defer file.Close()
	for _, c := range w.chats() {
		fmt.Fprintf(file, "== %s\n", c.surface)
		for _, s := range e.said {
			if s.chat == c {
				fmt.Fprintf(file, "said     %s %d\n", s.at.Format(clock), s.number)
			}
		}
		for _, t := range e.tries {
			if t.surface == c.surface {
				fmt.Fprintf(file, "sent     %s %q by %s, %s; disrupted: %s\n", t.at.Format(clock), t.text, t.life, t.end(), e.why(t))
			}
		}
		fmt.Fprintf(file, "shown    %q\nlog      %v\nanswers  %v\n", e.shown[c], e.logs[c].said, e.logs[c].answers)
		for _, line := range e.logs[c].receipts {
			fmt.Fprintf(file, "receipt  %s\n", line)
		}
	}
	fmt.Fprintln(file, "== disruptions")
	for _, d := range e.disruptions {
		fmt.Fprintf(file, "%s %s %s to %s\n", d.what, d.life, d.from.Format(clock), d.to.Format(clock))
	}
	fmt.Fprintln(file, "== prompts")
	for _, p := range e.prompts {
		fmt.Fprintf(file, "%s %s %v\n", p.at.Format(clock), p.life, p.numbers)
	}
	return nil
}

// receiptLine is a receipt as it is kept.
func receiptLine(at time.Time, payload json.RawMessage) string {
	return at.Format(clock) + " " + string(payload)
}
