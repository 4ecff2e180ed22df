// What is made of the HTML that the server has rendered and sanitized, and of times.

import { element } from "./page.js?v={{assets}}";

// prose makes the server's sanitized HTML part of the page.
export function prose(html) {
  const body = element("div", { class: "body prose" });
  body.append(fragment(html));
  return body;
}

export function fragment(html) {
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

export function time(text) {
  const when = new Date(text);
  const today = when.toDateString() === new Date().toDateString();
  const options = today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" };
  return element("time", { datetime: text, title: when.toLocaleString() }, when.toLocaleString(undefined, options));
}

export function copyButton(label, text) {
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
