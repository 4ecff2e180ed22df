// Showing the log, in the order of seq. Text from people is put in as text.

import { element, state, title, view } from "./page.js?v={{assets}}";
import { copyButton, fragment, prose, time } from "./render.js?v={{assets}}";
import { arrived } from "./unsent.js?v={{assets}}";

const NEAR_END = 120;           // px from the end that still count as reading the end

// place puts an item where its rank belongs; what is not in the log ranks last.
export function place(item, rank) {
  item.dataset.rank = rank;
  let next = null;
  for (let other = view.log.lastElementChild; other && Number(other.dataset.rank) > rank; other = other.previousElementSibling) next = other;
  view.log.insertBefore(item, next);
  return item;
}

// showEntry shows what people may see of an entry, once; false: nothing.
export function showEntry(entry) {
  if (entry.seq > state.last) state.last = entry.seq;
  if (view.log.querySelector(`[data-entry="${entry.seq}"]`)) return false;
  const item = itemFor(entry);
  if (!item) return false;
  item.dataset.entry = entry.seq;
  place(item, entry.seq);
  refreshEmpty();
  return true;
}

function itemFor(entry) {
  const message = entry.payload ?? {};
  if (entry.type === "error") return errorItem(message);
  if (entry.type !== "message") return null;
  switch (message.role) {
    case "user": return userItem(entry, message);
    case "assistant": return answerItem(entry, message);
  }
  return null;
}

function userItem(entry, message) {
  arrived(entry, message);
  const elsewhere = message.surface && state.me && message.surface !== state.me.surface;
  const from = elsewhere ? [element("p", { class: "from" }, nameOf(message))] : [];
  return element("li", { class: "turn user" }, ...from,
    element("div", { class: "body" }, message.text ?? ""), element("div", { class: "meta" }, time(entry.timestamp)));
}

// nameOf says who wrote a message at another place. The owner at this machine
// has no other name than that.
function nameOf({ sender, surface }) {
  if (sender?.name) return sender.name;
  return /^(web|cli|api):owner$/.test(sender?.id ?? "") ? "You" : sender?.id || surface;
}

function answerItem(entry, message) {
  const parts = [];
  for (const call of message.tool_calls ?? []) parts.push(element("p", { class: "tool" }, "used ", element("code", {}, call.name)));
  if (message.silent || (!entry.html && !parts.length && !message.stopped)) return null;
  if (entry.html) parts.unshift(prose(entry.html));
  const ended = message.stopped ? "stopped" : message.partial ? "broke off" : "";
  const meta = element("div", { class: "meta" }, time(entry.timestamp));
  if (ended) meta.append(element("span", {}, ended));
  if (message.text) meta.append(copyButton("Copy", () => message.text));
  return element("li", { class: ended === "broke off" ? "turn answer broken" : "turn answer" }, ...parts, meta);
}

// errorItem shows what went wrong; without a cause nothing broke, as when a
// person stopped the turn before it had said anything.
function errorItem(payload) {
  if (!payload.cause) return element("li", { class: "turn aside" }, payload.text || "Nothing was answered.");
  const body = element("div", { class: "body" }, element("p", {}, payload.text || "Something went wrong."));
  const again = element("button", { type: "button", class: "again quiet" }, "Try again");
  body.append(again, element("details", {}, element("summary", {}, "Cause"), element("pre", {}, payload.cause)));
  return element("li", { class: "turn error" }, body);
}

// note shows what is not part of the log: a command's answer, or a problem.
export function note(command, content, kind = "note") {
  const body = kind === "note" ? prose(content) : element("div", { class: "body" }, element("p", {}, content));
  const item = element("li", { class: `turn ${kind}` }, body);
  if (command) item.prepend(element("p", { class: "from" }, command));
  atEnd(() => place(item, state.last + 0.5));
  view.spoken.textContent = body.innerText;
  refreshEmpty();
}

export function divide(text) {
  place(element("li", { class: "divider" }, text), state.last + 0.25);
}

export function speak(entry) {
  if (!entry.html || entry.payload?.silent) return;
  view.spoken.textContent = fragment(entry.html).textContent;
  if (document.hidden) document.title = `● ${title}`;
}

export function refreshEmpty() {
  view.empty.hidden = view.log.childElementCount > 0 || state.before > 0;
  document.body.classList.toggle("begun", view.empty.hidden);
}

const readingEnd = () => view.scroll.scrollHeight - view.scroll.scrollTop - view.scroll.clientHeight < NEAR_END;

// atEnd changes the page and keeps a reader who was at the end there.
export function atEnd(change) {
  const follows = readingEnd();
  change();
  if (follows) view.scroll.scrollTop = view.scroll.scrollHeight;
  view.down.hidden = readingEnd();
}

// A keyboard that opens, or a field that grows, leaves such a reader there too.
let atTheEnd = true;
view.scroll.addEventListener("scroll", () => { atTheEnd = readingEnd(); view.down.hidden = atTheEnd; }, { passive: true });
new ResizeObserver(() => { if (atTheEnd) view.scroll.scrollTop = view.scroll.scrollHeight; }).observe(view.scroll);
view.down.addEventListener("click", () => { view.scroll.scrollTop = view.scroll.scrollHeight; view.text.focus(); });
