// The chat page: a client of the gateway's own HTTP API.
//
// What is shown is the log, in the order of seq, and behind it what is not in
// the log yet: the answer being written, and messages on their way. The event
// stream is followed for as long as the page is visible, and continued after
// the last entry seen whenever it breaks. Text from people is put in as text;
// the only HTML comes rendered and sanitized from the server.

const SILENCE_MAX = 45_000;     // ms without a byte before a stream counts as broken
const RETRY_MAX = 15_000;       // ms, longest wait between attempts
const PAGE_OF_LOG = 60;         // entries per page of history
const NEAR_END = 120;           // px from the end that still count as reading the end
const TEXT_MAX = 65_536;        // bytes of one message

const $ = (id) => document.getElementById(id);
const view = {
  log: $("log"), scroll: $("scroll"), empty: $("empty"), typing: $("typing"), earlier: $("earlier"),
  banner: $("banner"), bannerText: $("banner-text"), link: $("link"), linkText: $("link-text"),
  form: $("composer"), text: $("text"), send: $("send"), stop: $("stop"), menu: $("menu"),
  down: $("down"), spoken: $("spoken"), tooLong: $("too-long"), ask: $("ask"),
};
const title = document.title;
const state = {
  me: null,
  session: "",       // the id whose log is shown
  last: 0,           // seq of the newest entry shown; where the stream continues
  before: 0,         // where older entries go on; 0: none
  running: false,
  unsent: new Map(), // idempotency key → {key, text, session, node, seq, problem, busy}
};

// ---- talking to the server ----

class Problem extends Error {
  constructor(status, { detail, code, current } = {}) {
    super(detail);
    Object.assign(this, { status, code, current });
  }
  // Nothing is known to be wrong with the request itself: it may be sent again.
  get temporary() { return this.status === 0 || this.status === 429 || this.status >= 500; }
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The gateway cannot be reached." });
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Problem(response.status, { ...problem, detail: problem.detail || `The gateway answered ${response.status}.` });
}

// call repeats a request once when the sign-in was lost: on the gateway's own
// machine, asking for the page is signing in.
async function call(path, options) {
  try {
    return await request(path, options);
  } catch (error) {
    if (error.status !== 401) throw error;
    await signInAgain();
    return request(path, options);
  }
}

async function signInAgain() {
  const page = await fetch("/", { credentials: "same-origin", cache: "no-store" }).catch(() => null);
  if (!page) throw new Problem(0, { detail: "The gateway cannot be reached." });
  if (page.ok) return;
  location.assign("/login");
  await new Promise(() => {}); // the page is being left
}

const at = (path, session = state.session) => `/v1/sessions/${encodeURIComponent(session)}/${path}`;
const json = async (path, options) => (await call(path, options)).json();

// ---- the stream of events ----

async function follow() {
  for (let failures = 0; ;) {
    await whileHidden();
    const stream = new AbortController();
    let restarted = false;
    follow.restart = () => { restarted = true; stream.abort(); };
    try {
      // The place is this browser's own, whoever's conversation it shows.
      const response = await call(at(`events?render=html&surface=${encodeURIComponent(state.me.surface)}`), {
        headers: { Accept: "text/event-stream", "Last-Event-ID": String(state.last) }, signal: stream.signal,
      });
      failures = 0;
      connected();
      for await (const event of events(response.body, stream)) {
        await handle(event);
        if (restarted) break;
      }
    } catch (error) {
      if (error instanceof Problem ? !error.temporary : error.name !== "AbortError") {
        console.error(error);
        return lost(error.message, true);
      }
    } finally {
      stream.abort();
    }
    if (restarted) continue;
    failures += 1;
    lost("The connection is lost. Trying again…");
    await pause(failures === 1 ? 250 : Math.min(RETRY_MAX, 500 * 2 ** failures) * (0.75 + Math.random() / 2));
  }
}

// events reads server-sent events. Comments count as a sign of life.
async function* events(body, stream) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let watchdog, buffer = "";
  try {
    for (;;) {
      watchdog = setTimeout(() => stream.abort(), SILENCE_MAX);
      const { value, done } = await reader.read().catch((error) => {
        throw error.name === "AbortError" ? error : new Problem(0, { detail: "The connection broke." });
      });
      clearTimeout(watchdog);
      if (done) return;
      buffer += value;
      for (let end; (end = buffer.indexOf("\n\n")) >= 0;) {
        const event = parse(buffer.slice(0, end));
        buffer = buffer.slice(end + 2);
        if (event) yield event;
      }
    }
  } finally {
    clearTimeout(watchdog);
  }
}

function parse(frame) {
  const event = { name: "message", data: "" };
  for (const line of frame.split("\n")) {
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (field === "event") event.name = value;
    else if (field === "data") event.data += value;
  }
  return event.data && { name: event.name, data: JSON.parse(event.data) };
}

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

// A page nobody looks at holds no connection: browsers give one host only six.
async function whileHidden() {
  if (!document.hidden) return;
  setLink("paused");
  await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  return whileHidden();
}

// pause waits, or less when there is news about the connection.
function pause(milliseconds) {
  return new Promise((resolve) => {
    const done = () => { clearTimeout(timer); removeEventListener("online", done); resolve(); };
    const timer = setTimeout(done, milliseconds);
    addEventListener("online", done);
    pause.end = done;
  });
}

let bannerTimer;
function connected() {
  clearTimeout(bannerTimer);
  bannerTimer = undefined;
  view.banner.hidden = true;
  setLink("connected");
  resend();
}

function lost(text, forGood = false) {
  setLink("lost");
  const show = () => { view.bannerText.textContent = text; view.banner.hidden = false; };
  if (forGood) { show(); $("retry").onclick = () => location.reload(); return; }
  bannerTimer ??= setTimeout(show, 700); // a restart of the gateway need not alarm anyone
}

function setLink(word) {
  view.link.dataset.state = word;
  view.linkText.textContent = word === "lost" ? "not connected" : word;
}

// ---- which conversation ----

// moveTo goes where this browser's place has gone, as after /new or /resume.
async function moveTo(session) {
  if (session && session !== state.session) await switchTo(session, true);
}

async function switchTo(session, news) {
  state.session = session;
  state.last = state.before = 0;
  let told = null; // what the command that led here answered
  for (const item of [...view.log.children]) {
    if (item.matches(".pending")) continue;
    if (news && item.matches(".note:last-of-type, .note:has(+ .pending)")) told = item;
    item.remove();
  }
  await loadNewest();
  if (state.session !== session) return; // it has moved on meanwhile
  if (news && !view.log.querySelector("[data-entry]")) divide("New conversation");
  if (told) atEnd(() => place(told, state.last + 0.5));
  refreshEmpty();
  follow.restart?.();
}

// dropCleared takes away what was erased from the log.
function dropCleared(cleared) {
  if (!cleared) return;
  if (state.before && state.before <= cleared + 1) {
    state.before = 0;
    view.earlier.hidden = true;
  }
  const erased = [...view.log.querySelectorAll("[data-entry]")].filter((item) => Number(item.dataset.entry) <= cleared);
  if (!erased.length) return;
  for (const item of [...erased, ...view.log.querySelectorAll(".divider")]) item.remove();
  place(element("li", { class: "divider" }, "What was said before was erased"), cleared + 0.25);
  refreshEmpty();
}

async function loadNewest() {
  await loadBefore(0);
  refreshEmpty();
  view.scroll.scrollTop = view.scroll.scrollHeight;
}

// loadBefore shows a page of history, and more of it if little of it shows.
async function loadBefore(cursor) {
  for (let shown = 0; shown < 10;) {
    let page;
    try {
      page = await json(at(`entries?before=${cursor}&limit=${PAGE_OF_LOG}&render=html`));
    } catch (error) {
      if (error.status === 404) break; // nobody has spoken here yet
      throw error;
    }
    const height = view.scroll.scrollHeight - view.scroll.scrollTop;
    for (const entry of page.entries) shown += showEntry(entry) ? 1 : 0;
    view.scroll.scrollTop = view.scroll.scrollHeight - height; // what was read stays where it is
    state.last = Math.max(state.last, page.newest);
    cursor = state.before = page.before ?? 0;
    if (!cursor) break;
  }
  view.earlier.hidden = !state.before;
}

view.earlier.addEventListener("click", async () => {
  view.earlier.disabled = true;
  try { await loadBefore(state.before); } catch (error) { note("", error.message, "error"); }
  view.earlier.disabled = false;
});

// ---- showing entries ----

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined && value !== "") node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// place puts an item where its rank belongs; what is not in the log ranks last.
function place(item, rank) {
  item.dataset.rank = rank;
  let next = null;
  for (let other = view.log.lastElementChild; other && Number(other.dataset.rank) > rank; other = other.previousElementSibling) next = other;
  view.log.insertBefore(item, next);
  return item;
}

// showEntry shows what people may see of an entry, once; false: nothing.
function showEntry(entry) {
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
  for (const waiting of state.unsent.values()) {
    if (waiting.seq === entry.seq || (!waiting.seq && waiting.busy && waiting.text === message.text)) { forget(waiting); break; }
  }
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
  again.addEventListener("click", () => say("/retry"));
  body.append(again, element("details", {}, element("summary", {}, "Cause"), element("pre", {}, payload.cause)));
  return element("li", { class: "turn error" }, body);
}

// note shows what is not part of the log: a command's answer, or a problem.
function note(command, content, kind = "note") {
  const body = kind === "note" ? prose(content) : element("div", { class: "body" }, element("p", {}, content));
  const item = element("li", { class: `turn ${kind}` }, body);
  if (command) item.prepend(element("p", { class: "from" }, command));
  atEnd(() => place(item, state.last + 0.5));
  view.spoken.textContent = body.innerText;
  refreshEmpty();
}

function divide(text) {
  place(element("li", { class: "divider" }, text), state.last + 0.25);
}

// prose makes the server's sanitized HTML part of the page.
function prose(html) {
  const body = element("div", { class: "body prose" });
  body.append(fragment(html));
  return body;
}

function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const pre of template.content.querySelectorAll("pre:has(code)")) frameCode(pre);
  for (const table of template.content.querySelectorAll("table")) {
    const wide = element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" });
    table.replaceWith(wide);
    wide.append(table);
  }
  return template.content;
}

function frameCode(pre) {
  const language = /language-(\S+)/.exec(pre.querySelector("code").className)?.[1] ?? "";
  const frame = element("div", { class: "code" },
    element("div", { class: "head" }, element("span", {}, language), copyButton("Copy code", () => pre.textContent)));
  pre.tabIndex = 0; // long lines are scrolled with the arrow keys
  pre.replaceWith(frame);
  frame.append(pre);
}

function time(text) {
  const when = new Date(text);
  const today = when.toDateString() === new Date().toDateString();
  const options = today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" };
  return element("time", { datetime: text, title: when.toLocaleString() }, when.toLocaleString(undefined, options));
}

function copyButton(label, text) {
  const button = element("button", { type: "button" }, label);
  button.addEventListener("click", async () => {
    button.textContent = (await copy(text())) ? "Copied" : "Could not copy";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}

// copy works without a secure context too, as on http in a home network.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { class: "unseen", "aria-hidden": "true" });
    const focused = document.activeElement;
    document.body.append(area);
    area.value = text;
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    focused?.focus();
    return copied;
  }
}

function speak(entry) {
  if (!entry.html || entry.payload?.silent) return;
  view.spoken.textContent = fragment(entry.html).textContent;
  if (document.hidden) document.title = `● ${title}`;
}

function refreshEmpty() {
  view.empty.hidden = view.log.childElementCount > 0 || state.before > 0;
  document.body.classList.toggle("begun", view.empty.hidden);
}

// ---- the answer being written ----

function showDraft(delta) {
  let item = $("draft");
  if (!item && !delta.blocks?.length && !delta.missing) return;
  if (!item) {
    item = element("li", { class: "turn draft", id: "draft" }, element("div", { class: "body prose" }));
    place(item, Number.MAX_SAFE_INTEGER - 1);
  }
  atEnd(() => {
    const body = item.firstElementChild;
    while (body.childElementCount > delta.from) body.lastElementChild.remove();
    for (const html of delta.blocks ?? []) {
      const block = element("div", { class: "block" });
      block.append(fragment(html));
      body.append(block);
    }
    if (delta.missing && !item.querySelector(".missing")) {
      item.append(element("p", { class: "missing" }, body.childElementCount ? "… the rest will show when the answer is finished." : "An answer is being written. It will show when it is finished."));
    }
    view.typing.hidden = !delta.missing;
    refreshEmpty();
  });
}

function clearDraft() { $("draft")?.remove(); }

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

// ---- scrolling ----

const readingEnd = () => view.scroll.scrollHeight - view.scroll.scrollTop - view.scroll.clientHeight < NEAR_END;

// atEnd changes the page and keeps a reader who was at the end there.
function atEnd(change) {
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

// ---- saying something ----

const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// say sends a text to the conversation that is shown, or to the one it was
// meant for before a reload.
function say(text, key = newKey(), session = state.session) {
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

function mark(waiting, text, action, act) {
  const meta = waiting.node?.querySelector(".meta");
  if (!meta) return;
  meta.replaceChildren(element("span", { class: action ? "bad" : "" }, text));
  if (!action) return;
  const button = element("button", { type: "button" }, action);
  button.addEventListener("click", act);
  meta.append(button);
}

function forget(waiting) {
  waiting.node?.remove();
  state.unsent.delete(waiting.key);
  keep();
}

// resend keeps the order in which it was said.
async function resend() {
  for (const waiting of [...state.unsent.values()]) {
    if (!waiting.seq && !waiting.problem) await deliver(waiting);
  }
}

// keep remembers, for this tab, what a reload must not lose.
function keep() {
  const unsent = [...state.unsent.values()].filter((w) => !w.seq).map(({ key, text, session }) => ({ key, text, session }));
  try {
    sessionStorage.setItem("parley.unsent", JSON.stringify(unsent));
    sessionStorage.setItem("parley.draft", view.text.value);
  } catch { /* storage is full or forbidden: nothing is lost but this comfort */ }
}

function restore() {
  try {
    view.text.value = sessionStorage.getItem("parley.draft") ?? "";
    const unsent = JSON.parse(sessionStorage.getItem("parley.unsent") ?? "[]");
    for (const { key, text, session } of unsent) say(text, key, session);
  } catch { /* as above */ }
  fit();
}

view.form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = view.text.value.trim();
  if (!text || tooLong() || (/^\/clear(\s|$)/i.test(text) && !(await sure()))) return;
  view.text.value = "";
  fit();
  closeMenu();
  say(text);
});

// sure asks before what is said here is erased.
function sure() {
  view.ask.returnValue = "";
  view.ask.showModal();
  return new Promise((resolve) => view.ask.addEventListener("close", () => {
    view.text.focus();
    resolve(view.ask.returnValue === "yes");
  }, { once: true }));
}

// tooLong says that the text is longer than one message may be.
function tooLong() {
  const text = view.text.value.trim();
  const bytes = text.length * 3 > TEXT_MAX ? new TextEncoder().encode(text).length : 0;
  view.tooLong.hidden = bytes <= TEXT_MAX;
  view.tooLong.textContent = view.tooLong.hidden ? "" : `Too long for one message: ${bytes.toLocaleString("en")} of ${TEXT_MAX.toLocaleString("en")} bytes. Shorten it, or send it in parts.`;
  return !view.tooLong.hidden;
}

$("fresh").addEventListener("click", () => { say("/new"); view.text.focus(); });
for (const idea of document.querySelectorAll(".idea")) {
  idea.addEventListener("click", () => { say(idea.textContent); view.text.focus(); });
}

view.stop.addEventListener("click", stop);
async function stop() {
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

// ---- the message field and its command menu ----

function fit() {
  view.text.style.height = "auto";
  view.text.style.height = `${view.text.scrollHeight}px`;
}

view.text.addEventListener("input", () => { fit(); keep(); tooLong(); offerCommands(); });
view.text.addEventListener("blur", () => closeMenu());
const held = { enter: false, shift: false };
view.text.addEventListener("keydown", (event) => {
  if (event.isComposing) return; // Enter and Esc belong to the input method
  held.shift = event.shiftKey;
  held.enter = event.key === "Enter";
  if (!view.menu.hidden && menuKey(event)) return event.preventDefault();
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    view.form.requestSubmit();
  }
});
view.text.addEventListener("keyup", () => { held.enter = false; });
// Keyboards on phones often say what Enter does here only.
view.text.addEventListener("beforeinput", (event) => {
  if (event.inputType !== "insertLineBreak" || held.shift || event.isComposing) return;
  event.preventDefault();
  if (!held.enter) view.form.requestSubmit();
});
addEventListener("keydown", (event) => { if (event.key === "Escape" && !event.defaultPrevented) stop(); });

function offerCommands() {
  const typed = /^\/(\S*)$/.exec(view.text.value);
  const commands = typed ? (state.me?.commands ?? []).filter(({ name }) => name.startsWith(typed[1].toLowerCase())) : [];
  view.menu.replaceChildren(...commands.map(({ name, description }, i) => {
    const item = element("li", { role: "option", id: `command-${i}`, "data-name": name }, element("b", {}, `/${name}`), element("span", {}, description));
    item.addEventListener("pointerdown", (event) => { event.preventDefault(); choose(item); });
    return item;
  }));
  view.menu.hidden = !commands.length;
  select(view.menu.firstElementChild);
}

function select(item) {
  for (const other of view.menu.children) other.setAttribute("aria-selected", String(other === item));
  if (item) {
    view.text.setAttribute("aria-activedescendant", item.id);
    item.scrollIntoView({ block: "nearest" });
  } else view.text.removeAttribute("aria-activedescendant");
}

function closeMenu() {
  view.menu.hidden = true;
  select(null);
}

// menuKey handles a key while the menu is open; false: not one of its keys.
function menuKey({ key, shiftKey }) {
  const items = [...view.menu.children];
  const at = items.findIndex((item) => item.getAttribute("aria-selected") === "true");
  switch (key) {
    case "ArrowDown": select(items[(at + 1) % items.length]); return true;
    case "ArrowUp": select(items[(at - 1 + items.length) % items.length]); return true;
    case "Escape": closeMenu(); return true;
    case "Tab": if (shiftKey) return false; choose(items[at]); return true;
    case "Enter":
      // A name that is typed out is sent; a part of one is completed first.
      if (view.text.value.toLowerCase() === `/${items[at].dataset.name}`) return false;
      choose(items[at]);
      return true;
  }
  return false;
}

function choose(item) {
  view.text.value = `/${item.dataset.name}`;
  closeMenu();
  fit();
  keep();
  view.text.focus();
}

// ---- beginning ----

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
  await follow();
}

begin();
