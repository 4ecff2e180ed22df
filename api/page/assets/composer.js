// The message field and its menu of commands.

import { element, fit, state, view } from "./page.js?v={{assets}}";
import { say, stop } from "./sending.js?v={{assets}}";
import { keep } from "./unsent.js?v={{assets}}";

const TEXT_MAX = 65_536;        // bytes of one message

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
