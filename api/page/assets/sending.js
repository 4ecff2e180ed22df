// Saying something.

import { $, element, fit, state, view } from "./page.js?v={{assets}}";
import { Problem, at, call, json } from "./server.js?v={{assets}}";
import { note, place, refreshEmpty } from "./log.js?v={{assets}}";
import { moveTo } from "./places.js?v={{assets}}";
import { forget, keep, mark } from "./unsent.js?v={{assets}}";

const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// say sends a text to the conversation that is shown, or to the one it was
// meant for before a reload.
export function say(text, key = newKey(), session = state.session) {
  const waiting = { key, text, session, node: null, seq: 0, problem: "", busy: false };
  state.unsent.set(key, waiting);
  keep();
  waiting.node = place(element("li", { class: "turn user pending" }, element("div", { class: "body" }, text),
    element("div", { class: "meta" })), Number.MAX_SAFE_INTEGER);
  refreshEmpty();
  view.scroll.scrollTop = view.scroll.scrollHeight;
  return deliver(waiting);
}

// deliver sends one message. Its key makes it safe to send again.
async function deliver(waiting) {
  if (waiting.busy) return;
  waiting.busy = true;
  mark(waiting, "sending…");
  try {
    const said = await json(at("messages?render=html", waiting.session), {
      method: "POST", body: JSON.stringify({ text: waiting.text, surface: state.me?.surface }),
      headers: { "Content-Type": "application/json", "Idempotency-Key": waiting.key },
    });
    await sent(waiting, said);
  } catch (error) {
    waiting.busy = false;
    if (!(error instanceof Problem)) throw error;
    if (error.temporary) return mark(waiting, `Not sent yet: ${error.message} It will be sent again.`, "Send now", () => deliver(waiting));
    waiting.problem = error.message;
    if (error.code === "moved") return elsewhere(waiting, error.current);
    mark(waiting, `Not sent: ${error.message}`, "Edit", () => { view.text.value = waiting.text; forget(waiting); fit(); view.text.focus(); });
  }
}

// elsewhere shows where this browser's place has gone meanwhile. What was meant
// for the conversation that was shown before is not sent to another unasked.
async function elsewhere(waiting, current) {
  await moveTo(current);
  mark(waiting, "Not sent: another conversation is open here now.", "Send it here", () => {
    Object.assign(waiting, { problem: "", session: state.session });
    keep();
    return deliver(waiting);
  });
}

async function sent(waiting, said) {
  waiting.seq = said.seq;
  if (said.reply) {
    forget(waiting);
    note(waiting.text, said.reply_html ?? "");
  } else if (!said.seq || view.log.querySelector(`[data-entry="${said.seq}"]`)) {
    forget(waiting);
  } else {
    mark(waiting, "");
    waiting.node.classList.remove("pending");
  }
  keep();
  await moveTo(said.moved_to || (said.seq ? said.session : ""));
}

// resend keeps the order in which it was said.
export async function resend() {
  for (const waiting of [...state.unsent.values()]) {
    if (!waiting.seq && !waiting.problem) await deliver(waiting);
  }
}

export function restore() {
  try {
    view.text.value = sessionStorage.getItem("parley.draft") ?? "";
    const unsent = JSON.parse(sessionStorage.getItem("parley.unsent") ?? "[]");
    for (const { key, text, session } of unsent) say(text, key, session);
  } catch { /* as above */ }
  fit();
}

$("fresh").addEventListener("click", () => { say("/new"); view.text.focus(); });
for (const idea of document.querySelectorAll(".idea")) {
  idea.addEventListener("click", () => { say(idea.textContent); view.text.focus(); });
}

view.log.addEventListener("click", (event) => {
  if (event.target.closest(".again")) say("/retry");
});

view.stop.addEventListener("click", stop);
export async function stop() {
  if (!state.running || view.stop.disabled) return;
  view.stop.disabled = true;
  view.text.focus();
  try {
    await call(at("stop"), { method: "POST" });
  } catch (error) {
    view.stop.disabled = false;
    note("", error.message, "error");
  }
}
