// Which conversation is shown.

import { element, state, view } from "./page.js?v={{assets}}";
import { at, json } from "./server.js?v={{assets}}";
import { follow } from "./stream.js?v={{assets}}";
import { atEnd, divide, note, place, refreshEmpty, showEntry } from "./log.js?v={{assets}}";

const PAGE_OF_LOG = 60;         // entries per page of history

// moveTo goes where this browser's place has gone, as after /new or /resume.
export async function moveTo(session) {
  if (session && session !== state.session) await switchTo(session, true);
}

export async function switchTo(session, news) {
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
export function dropCleared(cleared) {
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

export async function loadNewest() {
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
