// The chat page: a client of the gateway's own HTTP API.
//
// What is shown is the log, in the order of seq, and behind it what is not in
// the log yet: the answer being written, and messages on their way. The event
// stream is followed for as long as the page is visible, and continued after
// the last entry seen whenever it breaks. Text from people is put in as text;
// the only HTML comes rendered and sanitized from the server.

import "./composer.js?v={{assets}}";
import { $, state, title, view } from "./page.js?v={{assets}}";
import { Problem, json } from "./server.js?v={{assets}}";
import { RETRY_MAX, follow, lost, pause } from "./stream.js?v={{assets}}";
import { atEnd, refreshEmpty, showEntry, speak } from "./log.js?v={{assets}}";
import { clearDraft, showDraft } from "./draft.js?v={{assets}}";
import { dropCleared, loadNewest, moveTo, switchTo } from "./places.js?v={{assets}}";
import { resend, restore } from "./sending.js?v={{assets}}";

async function handle({ name, data }) {
  switch (name) {
    case "text_delta": return showDraft(data);
    case "status": return showStatus(data);
    case "moved": return moveTo(data.session);
    case "gap": return data.reason === "ahead" ? switchTo(state.session, false) : dropCleared(data.cleared);
  }
  if (typeof data.seq !== "number") return;
  atEnd(() => {
    // The server counts the blocks of a draft by the same rule.
    if (name === "message" || name === "tool_call" || data.type === "error") clearDraft();
    showEntry(data);
  });
  if (name === "message") speak(data);
}

function showStatus({ status, cleared }) {
  dropCleared(cleared);
  state.running = status === "running";
  atEnd(() => {
    if (!state.running) clearDraft();
    view.typing.hidden = !state.running || Boolean($("draft") && !$("draft").querySelector(".missing"));
  });
  view.stop.hidden = !state.running;
  view.stop.disabled = false;
  if (!state.running && document.hidden) follow.restart?.();
}

$("retry").addEventListener("click", () => pause.end?.());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) document.title = title;
  else if (!state.running) follow.restart?.();
});

async function begin() {
  for (let failures = 0; ; failures += 1) {
    try {
      state.me = await json("/v1/me");
      state.session = state.me.session;
      if (!state.session) throw new Problem(400, { detail: "This browser keeps no cookies for this page. Allow them, and load the page again." });
      if (state.me.newest > 0) await loadNewest();
      refreshEmpty();
      break;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!error.temporary) return lost(error.message, true);
      lost("The gateway cannot be reached. Trying again…");
      await pause(Math.min(RETRY_MAX, 500 * 2 ** failures));
    }
  }
  restore();
  await follow(handle, resend);
}

begin();
