// The page itself: its parts, and what it knows.

export const $ = (id) => document.getElementById(id);

export const view = {
  log: $("log"), scroll: $("scroll"), empty: $("empty"), typing: $("typing"), earlier: $("earlier"),
  banner: $("banner"), bannerText: $("banner-text"), link: $("link"), linkText: $("link-text"),
  form: $("composer"), text: $("text"), send: $("send"), stop: $("stop"), menu: $("menu"),
  down: $("down"), spoken: $("spoken"), tooLong: $("too-long"), ask: $("ask"),
};

export const title = document.title;

export const state = {
  me: null,
  session: "",       // the id whose log is shown
  last: 0,           // seq of the newest entry shown; where the stream continues
  before: 0,         // where older entries go on; 0: none
  running: false,
  unsent: new Map(), // idempotency key → {key, text, session, node, seq, problem, busy}
};

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined && value !== "") node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// fit makes the field as high as what is written in it.
export function fit() {
  view.text.style.height = "auto";
  view.text.style.height = `${view.text.scrollHeight}px`;
}
