// The stream of events, and the line that says how it stands.
//
// It is followed for as long as the page is visible, and continued after the last
// entry seen whenever it breaks.

import { $, state, view } from "./page.js?v={{assets}}";
import { Problem, at, call } from "./server.js?v={{assets}}";

const SILENCE_MAX = 45_000;     // ms without a byte before a stream counts as broken
export const RETRY_MAX = 15_000;       // ms, longest wait between attempts

// follow hands every event to handle, one after the other, and says whenever
// the stream stands again.
export async function follow(handle, standing) {
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
      standing();
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

// A page nobody looks at holds no connection: browsers give one host only six.
async function whileHidden() {
  if (!document.hidden) return;
  setLink("paused");
  await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  return whileHidden();
}

// pause waits, or less when there is news about the connection.
export function pause(milliseconds) {
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
}

export function lost(text, forGood = false) {
  setLink("lost");
  const show = () => { view.bannerText.textContent = text; view.banner.hidden = false; };
  if (forGood) { show(); $("retry").onclick = () => location.reload(); return; }
  bannerTimer ??= setTimeout(show, 700); // a restart of the gateway need not alarm anyone
}

function setLink(word) {
  view.link.dataset.state = word;
  view.linkText.textContent = word === "lost" ? "not connected" : word;
}
