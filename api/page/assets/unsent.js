// Messages that are on their way: not in the log yet.

import { element, state, view } from "./page.js?v={{assets}}";

export function mark(waiting, text, action, act) {
  const meta = waiting.node?.querySelector(".meta");
  if (!meta) return;
  meta.replaceChildren(element("span", { class: action ? "bad" : "" }, text));
  if (!action) return;
  const button = element("button", { type: "button" }, action);
  button.addEventListener("click", act);
  meta.append(button);
}

export function forget(waiting) {
  waiting.node?.remove();
  state.unsent.delete(waiting.key);
  keep();
}

// arrived forgets a message that stands in the log now.
export function arrived(entry, message) {
  for (const waiting of state.unsent.values()) {
    if (waiting.seq === entry.seq || (!waiting.seq && waiting.busy && waiting.text === message.text)) return forget(waiting);
  }
}

// keep remembers, for this tab, what a reload must not lose.
export function keep() {
  const unsent = [...state.unsent.values()].filter((w) => !w.seq).map(({ key, text, session }) => ({ key, text, session }));
  try {
    sessionStorage.setItem("parley.unsent", JSON.stringify(unsent));
    sessionStorage.setItem("parley.draft", view.text.value);
  } catch { /* storage is full or forbidden: nothing is lost but this comfort */ }
}
