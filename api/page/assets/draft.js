// The answer being written, behind the log.

import { $, element, view } from "./page.js?v={{assets}}";
import { fragment } from "./render.js?v={{assets}}";
import { atEnd, place, refreshEmpty } from "./log.js?v={{assets}}";

export function showDraft(delta) {
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

export function clearDraft() { $("draft")?.remove(); }
