// A form for a JSON Schema. The value belongs to whoever made the form; the form changes copies of it.
import { button, fill, freshId, h, json } from "./dom.js";

const DEEPEST = 12;

// Reads JSON, and keeps numbers as they were written where JavaScript would round them.
export function parse(text) {
  return JSON.parse(text, (_, value, context) => {
    const exact = typeof value === "number" && context?.source !== undefined && JSON.rawJSON !== undefined;
    return exact && String(value) !== context.source ? JSON.rawJSON(context.source) : value;
  });
}

export class Form {
  constructor(described, value, changed, name = "arguments") {
    this.name = name;
    this.described = described;
    this.value = value;
    this.changed = changed;
    this.element = h("div", { class: "form" });
    this.draw();
  }

  show(value) {
    this.value = value;
    this.draw();
  }

  draw(focus) {
    fill(this.element, this.field(this.described.root, this.value, [], this.name, 0));
    if (focus !== undefined) this.element.querySelector(`[data-path="${CSS.escape(focus)}"]`)?.focus();
  }

  resolved(field, depth) {
    let found = field;
    for (let steps = 0; found.kind === "reference" && steps < DEEPEST; steps += 1) {
      found = { ...this.described.definitions[found.name] ?? { kind: "json" }, ...pick(found, ["key", "required", "description"]) };
    }
    return depth > DEEPEST || found.kind === "reference" ? { kind: "json" } : found;
  }

  // Sets what is at a path; undefined takes it away.
  set(path, value, redraw, focus) {
    this.value = changedAt(this.value, path, value);
    this.changed(this.value);
    if (redraw) this.draw(focus);
  }

  field(described, value, path, name, depth) {
    const field = this.resolved(described, depth);
    const make = this[`make_${field.kind}`] ?? this.make_json;
    return make.call(this, field, value, path, name, depth);
  }

  make_object(field, value, path, name, depth) {
    const own = isObject(value) ? value : {};
    const known = new Set(field.fields.map((one) => one.key));
    const others = Object.keys(own).filter((key) => !known.has(key));
    return group(name, field.description, path.length === 0 || field.bare,
      field.fields.map((one) => this.member(one, own, path, depth)),
      field.fields.length || others.length ? null : h("p", { class: "dim" }, "It takes no arguments."),
      others.map((key) => h("div", { class: "row" },
        this.field(field.others ?? { kind: "json" }, own[key], [...path, key], `${key} (not in the schema)`, depth + 1),
        button("Remove", () => this.set([...path, key], undefined, true), { "aria-label": `Remove ${key}` }))));
  }

  member(field, own, path, depth) {
    const place = [...path, field.key];
    const isThere = Object.hasOwn(own, field.key);
    if (isThere) {
      const inside = this.field(field, own[field.key], place, field.key + (field.required ? " *" : ""), depth + 1);
      return h("div", { class: "row" }, inside,
        button("Leave out", () => this.set(place, undefined, true, key(place)), { "aria-label": `Leave out ${field.key}`, class: "small" }));
    }
    const hint = Object.hasOwn(field, "default") ? ` (default ${short(field.default)})` : "";
    return h("p", { class: "row absent" },
      h("span", {}, `${field.key}${field.required ? " * is missing" : ` is left out${hint}`}`),
      button("Add", () => this.set(place, this.blank(field, depth), true, key(place)), { "aria-label": `Add ${field.key}`, "data-path": key(place), class: "small" }));
  }

  make_list(field, value, path, name, depth) {
    const items = Array.isArray(value) ? value : [];
    return group(name, field.description, false,
      items.map((item, index) => h("div", { class: "row" },
        this.field(field.item, item, [...path, index], `${index + 1}`, depth + 1),
        button("Remove", () => this.set([...path, index], undefined, true, key(path)), { "aria-label": `Remove item ${index + 1} of ${name}`, class: "small" }))),
      button("Add an item", () => this.set([...path, items.length], this.blank(field.item, depth), true, key([...path, items.length])),
        { "aria-label": `Add an item to ${name}`, "data-path": key(path), class: "small" }));
  }

  make_map(field, value, path, name, depth) {
    const own = isObject(value) ? value : {};
    const added = h("input", { type: "text", "aria-label": `Key of a new entry of ${name}`, "data-path": key(path), placeholder: "key" });
    const add = () => added.value && this.set([...path, added.value], this.blank(field.value, depth), true, key(path));
    return group(name, field.description, false,
      Object.keys(own).map((entry) => h("div", { class: "row" },
        this.field(field.value, own[entry], [...path, entry], entry, depth + 1),
        button("Remove", () => this.set([...path, entry], undefined, true, key(path)), { "aria-label": `Remove ${entry} of ${name}`, class: "small" }))),
      h("p", { class: "row" }, added, button("Add an entry", add, { "aria-label": `Add an entry to ${name}`, class: "small" })));
  }

  make_union(field, value, path, name, depth) {
    const members = field.members.map((member) => this.resolved(member, depth));
    const index = Math.max(0, members.findIndex((member) => this.fits(member, value, depth)));
    const choose = (event) => this.set(path, this.blank(members[event.target.selectedIndex], depth), true, key(path));
    const id = freshId();
    return group(name, field.description, false,
      h("p", {}, h("label", { for: id }, `kind of ${name}`), " ",
        h("select", { id, onchange: choose, "data-path": key(path) },
          members.map((member, place) => h("option", { selected: place === index }, title(member))))),
      this.field({ ...members[index], bare: true }, value, path, name, depth + 1));
  }

  make_choice(field, value, path, name) {
    const index = field.choices.findIndex((choice) => json(choice) === json(value));
    const choose = (event) => this.set(path, field.choices[event.target.selectedIndex - (index < 0 ? 1 : 0)], index < 0, key(path));
    return labelled(name, field, (id) => h("select", { id, onchange: choose, "data-path": key(path) },
      index < 0 ? h("option", { selected: true }, `${short(value)} (not a choice)`) : null,
      field.choices.map((choice, place) => h("option", { selected: place === index }, typeof choice === "string" ? choice : json(choice)))));
  }

  make_boolean(field, value, path, name) {
    return labelled(name, field, (id) => h("input", { id, type: "checkbox", checked: value === true, "data-path": key(path),
      onchange: (event) => this.set(path, event.target.checked) }));
  }

  make_text(field, value, path, name) {
    return labelled(name, field, (id) => h("input", { id, type: "text", value: asText(value), "data-path": key(path),
      placeholder: field.format ?? "", oninput: (event) => this.set(path, event.target.value) }));
  }

  // What isn't a number is sent as text: so one can try what happens.
  make_number(field, value, path, name) {
    const read = (text) => { try { const found = parse(text); return typeof found === "number" || isRaw(found) ? found : text; } catch { return text; } };
    return labelled(name, field, (id) => h("input", { id, type: "text", inputmode: "decimal", value: asText(value), "data-path": key(path),
      oninput: (event) => this.set(path, read(event.target.value.trim())) }));
  }

  make_integer(field, value, path, name) {
    return this.make_number(field, value, path, name);
  }

  make_null(field, value, path, name) {
    return h("p", {}, `${name}: null`);
  }

  make_constant(field, value, path, name) {
    return h("p", {}, `${name}: ${short(field.value)}`);
  }

  make_json(field, value, path, name) {
    const change = (event) => {
      try {
        this.set(path, parse(event.target.value));
        event.target.removeAttribute("aria-invalid");
      } catch {
        event.target.setAttribute("aria-invalid", "true");
      }
    };
    return labelled(`${name} (JSON)`, field, (id) => h("textarea", { id, rows: 2, spellcheck: "false", value: json(value ?? null), "data-path": key(path), oninput: change }));
  }

  blank(described, depth) {
    const field = this.resolved(described, depth);
    switch (field.kind) {
      case "object": return Object.fromEntries(field.fields.filter((one) => one.required).map((one) => [one.key, this.blank(one, depth + 1)]));
      case "list": return [];
      case "map": return {};
      case "union": return this.blank(field.members[0], depth + 1);
      case "choice": return field.choices[0];
      case "constant": return field.value;
      case "text": return field.default ?? "";
      case "boolean": return field.default ?? false;
      case "integer":
      case "number": return field.default ?? field.minimum ?? 0;
      default: return null;
    }
  }

  fits(described, value, depth) {
    const field = this.resolved(described, depth);
    switch (field.kind) {
      case "object": return isObject(value) && field.fields.every((one) => this.fitsMember(one, value, depth));
      case "map": return isObject(value);
      case "list": return Array.isArray(value);
      case "union": return field.members.some((member) => this.fits(member, value, depth + 1));
      case "choice": return field.choices.some((choice) => json(choice) === json(value));
      case "constant": return json(field.value) === json(value);
      case "text": return typeof value === "string";
      case "boolean": return typeof value === "boolean";
      case "integer":
      case "number": return typeof value === "number" || isRaw(value);
      case "null": return value === null;
      default: return true;
    }
  }

  // A member of a union is known by its constants, and by what has to be there.
  fitsMember(field, value, depth) {
    const own = this.resolved(field, depth);
    if (!Object.hasOwn(value, field.key)) return !field.required;
    return !["choice", "constant"].includes(own.kind) || this.fits(own, value[field.key], depth);
  }
}

function group(name, description, isBare, ...inside) {
  const about = description ? h("p", { class: "dim" }, description) : null;
  return isBare ? h("div", {}, about, inside) : h("fieldset", {}, h("legend", {}, name), about, inside);
}

function labelled(name, field, make) {
  const id = freshId();
  const control = make(id);
  if (!field.description) return h("div", { class: "field" }, h("label", { for: id }, name), control);
  control.setAttribute("aria-describedby", `${id}-about`);
  return h("div", { class: "field" }, h("label", { for: id }, name), control, h("span", { class: "dim", id: `${id}-about` }, field.description));
}

function changedAt(value, path, changed) {
  if (path.length === 0) return changed;
  const [step, ...rest] = path;
  const copy = Array.isArray(value) ? [...value] : typeof step === "number" ? [] : { ...isObject(value) ? value : {} };
  if (rest.length === 0 && changed === undefined) {
    if (Array.isArray(copy)) copy.splice(step, 1);
    else delete copy[step];
  } else {
    const inside = changedAt(copy[step], rest, changed);
    if (Array.isArray(copy)) copy[step] = inside;
    else Object.defineProperty(copy, step, { value: inside, writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

function title(field) {
  const constants = (field.fields ?? []).filter((one) => one.kind === "constant" || one.choices?.length === 1)
    .map((one) => short(one.kind === "constant" ? one.value : one.choices[0]));
  const inside = constants.length ? constants.join(", ") : (field.fields ?? []).slice(0, 3).map((one) => one.key).join(", ");
  const what = field.kind === "choice" ? field.choices.slice(0, 3).map(short).join(", ") : field.kind;
  return inside ? `${what}: ${inside}` : what;
}

function pick(value, keys) {
  return Object.fromEntries(keys.filter((one) => Object.hasOwn(value, one)).map((one) => [one, value[one]]));
}

function isRaw(value) {
  return JSON.isRawJSON?.(value) ?? false;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRaw(value);
}

function asText(value) {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

function short(value) {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function key(path) {
  return JSON.stringify(path);
}
