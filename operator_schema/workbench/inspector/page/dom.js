// Everything on the page is made here, of texts: no text of a tool is ever read as HTML.

export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else if (name === "checked") element.checked = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

let count = 0;
export function freshId() {
  count += 1;
  return `field-${count}`;
}

export function button(text, onclick, attributes) {
  return h("button", { type: "button", onclick, ...attributes }, text);
}

export function plural(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

export function table(caption, titles, rows) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption),
      h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, place) =>
        h(place ? "td" : "th", place ? { class: typeof cell === "number" ? "number" : undefined } : { scope: "row" },
          typeof cell === "number" ? cell.toLocaleString("en") : cell)))))));
}

export function pre(text, label) {
  return h("pre", { tabindex: "0", role: "group", "aria-label": label }, text);
}

export function json(value) {
  return JSON.stringify(value, null, 2);
}

// Shows a question, and returns whether the person agreed. The focus is on "Cancel".
export function ask(title, text, yes) {
  return new Promise((resolve) => {
    let agreed = false;
    const heading = freshId();
    const dialog = h("dialog", { "aria-labelledby": heading, onclose: () => { dialog.remove(); resolve(agreed); } },
      h("h2", { id: heading }, title), pre(text, "What is to run"),
      h("p", { class: "buttons" }, button("Cancel", () => dialog.close(), { autofocus: true }),
        button(yes, () => { agreed = true; dialog.close(); }, { class: "danger" })));
    document.body.append(dialog);
    dialog.showModal();
  });
}
