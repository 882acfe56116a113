// Try a tool: a form beside JSON, how the call is read while one types, and what comes back when it runs.
import { Problem, post, run } from "./api.js";
import { ask, button, fill, h, json, plural, pre } from "./dom.js";
import { Form, parse } from "./form.js";

const PAUSE = 250;
const LONGEST_IN_FORM = 20_000; // characters; a form of more would take long to draw
const texts = new Map(); // what was typed for each tool, also over a reload

export function tryLater(name, text) {
  texts.set(name, text);
}

export function showTry(main, state, tool) {
  const started = texts.get(tool.name) ?? json(tool.example);
  const editor = h("textarea", { id: "arguments", rows: 8, spellcheck: "false", autocomplete: "off", value: started });
  const reading = h("div", { "aria-live": "polite", id: "reading" });
  const steps = h("div", { "aria-live": "polite" });
  const result = h("div", { "aria-live": "polite", id: "result" });
  const repair = h("select", { id: "repair" }, h("option", { value: "" }, "as the tool says"), h("option", { value: "yes" }, "on"), h("option", { value: "no" }, "off"));
  const size = h("input", { type: "number", id: "size", min: 1, max: 1000, value: 5 });
  const wanted = () => ({ tool: tool.name, arguments: editor.value, ...(repair.value ? { repair: repair.value === "yes" } : {}) });

  const form = new Form(tool.form, {}, (value) => {
    editor.value = json(value);
    edited();
  });
  let timer = 0;
  let asked = 0;
  const read = async () => {
    const own = ++asked;
    const found = await attempt(reading, () => post("read", wanted()));
    if (found && own === asked) showReading(reading, found);
  };
  const edited = () => {
    texts.set(tool.name, editor.value);
    clearTimeout(timer);
    timer = setTimeout(read, PAUSE);
  };
  const tooLong = h("p", { class: "dim", hidden: true }, "The arguments are too long for a form.");
  const drawForm = () => {
    const isLong = editor.value.length > LONGEST_IN_FORM;
    form.element.hidden = isLong;
    tooLong.hidden = !isLong;
    const value = isLong ? undefined : valueOf(editor.value);
    if (value !== undefined) form.show(value);
  };
  editor.addEventListener("input", () => {
    drawForm();
    edited();
  });
  repair.addEventListener("change", read);

  const stream = async () => {
    const found = await attempt(steps, () => post("stream", { ...wanted(), size: Number(size.value) || 1 }));
    if (found) showSteps(steps, found);
  };
  let isRunning = false; // the second click of a double click starts nothing
  const startOnce = async () => {
    if (isRunning) return;
    isRunning = true;
    try { await start(result, tool, editor.value, {}); } finally { isRunning = false; }
  };
  const keep = async () => {
    const found = await attempt(steps, () => post("tried/keep", wanted()));
    if (found) fill(steps, h("p", {}, `Kept: ${plural(found.calls.length, "call")}${found.file ? ` in ${found.file}` : " until the inspector ends"}. After a change of your code, see Tried calls.`));
  };

  fill(main,
    h("div", { class: "halves" },
      h("section", { "aria-label": "Form" }, h("h3", {}, "Form"), tooLong, form.element),
      h("section", { "aria-label": "The call" }, h("h3", {}, h("label", { for: "arguments" }, "Arguments, as a model sends them")), editor,
        h("p", { class: "buttons" }, h("label", { for: "repair" }, "repair"), repair,
          button("Keep this call", keep), button("Stream it", stream), h("label", { for: "size" }, "characters at a time"), size),
        h("h3", {}, "How it is read"), reading, steps,
        h("h3", {}, "Run it"),
        tool.has_function ? h("p", { class: "buttons" },
          button(tool.needs_agreement ? "Run…" : "Run", startOnce, { id: "run", class: "main" }),
          tool.needs_agreement ? h("span", { class: "dim" }, "It asks once more before it runs.") : null)
          : h("p", {}, "It has no function that could run."),
        result)));
  drawForm();
  read();
}

function valueOf(text) {
  try { return parse(text); } catch { return undefined; }
}

async function attempt(place, action) {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    fill(place, h("p", { class: "bad" }, error.message));
    return null;
  }
}

export function showReading(place, reading) {
  const notes = reading.findings.filter((finding) => finding.severity === "note" || reading.fits);
  fill(place,
    h("p", { class: reading.fits ? "good" : "bad" }, reading.fits ? "It fits: the tool would run." : `It doesn't fit (${reading.code}).`),
    notes.length ? h("ul", {}, notes.map((note) => h("li", {}, note.code === "ignored" ? `ignored: ${note.line}` : `repaired: ${note.line}`))) : null,
    reading.fits ? [h("h4", {}, "Your function gets"), pre(reading.shown ?? "", "Your function gets"),
      reading.arguments === null ? null : h("details", {}, h("summary", {}, "as JSON, with defaults"), pre(json(reading.arguments), "as JSON"))]
      : [h("h4", {}, "The model reads"), pre(reading.text, "The model reads")]);
}

function showSteps(place, found) {
  fill(place, h("h4", {}, "As it arrives"),
    h("ol", { class: "steps" }, found.steps.map((step) => h("li", {},
      h("span", { class: "dim" }, `${step.characters} characters: `),
      Object.entries(step.fields).map(([name, value]) => `${name} = ${value}`).join(" · ") || "nothing yet",
      step.receiving ? h("em", {}, ` … ${step.receiving}`) : "",
      step.findings.map((finding) => h("span", { class: "bad" }, ` ${finding.line}`)),
      step.is_complete ? h("strong", {}, " complete") : ""))),
    found.is_cut ? h("p", { class: "dim" }, "Only the first steps are shown.") : null);
}

async function start(place, tool, text, answers, agreement) {
  const progress = h("progress", { "aria-label": "progress" });
  const records = h("ul", { class: "records" });
  const message = h("span", {});
  const stopping = new AbortController();
  fill(place, h("p", {}, progress, " ", message, " ", button("Stop", () => stopping.abort())), records);
  const tell = (event) => {
    if (event.progress) {
      if (event.progress.total) { progress.max = event.progress.total; progress.value = event.progress.done; }
      message.textContent = event.progress.message ?? `${event.progress.done}`;
    }
    if (event.record) records.append(h("li", {}, `${event.record.level} ${event.record.logger}: ${event.record.text}`));
  };
  let done = null;
  try {
    done = await run({ tool: tool.name, arguments: text, answers, ...(agreement ? { agreement } : {}) }, tell, stopping.signal);
  } catch (error) {
    if (error.name === "AbortError") { fill(place, h("p", {}, "Stopped.")); return; }
    if (!(error instanceof Problem)) throw error;
    fill(place, h("p", { class: "bad" }, error.message));
    return;
  }
  if (done.question !== undefined) {
    fill(place, h("p", {}, "It waits for you."));
    if (await ask(`Run ${tool.name}?`, done.question, "Run it once")) return start(place, tool, text, answers, done.agreement);
    fill(place, h("p", {}, "Not run."));
    return;
  }
  if (done.problem) { fill(place, h("p", { class: "bad" }, done.problem)); return; }
  showResult(place, done, (answer) => start(place, tool, text, { ...answers, [done.asks.parameter]: answer }));
}

export function showResult(place, done, again) {
  const result = done.result;
  const time = done.seconds === undefined ? "" : ` after ${done.seconds < 1 ? `${Math.max(1, Math.round(done.seconds * 1000))} ms` : `${done.seconds.toFixed(1)} s`}`;
  fill(place,
    h("p", { class: result.is_error ? "bad" : "good" }, `${result.is_error ? `No result: ${result.code}` : "Result"}${time}`),
    done.missing ? h("p", { class: "bad" }, done.missing) : null,
    result.exception ? h("p", { class: "dim" }, `raised: ${result.exception}`) : null,
    result.notes.length ? h("ul", {}, result.notes.map((note) => h("li", {}, note))) : null,
    done.asks ? question(done.asks.text, done.asks.form, "Answer, and run again", again) : null,
    h("h4", {}, "The model reads"), pre(result.content, "The model reads"),
    result.parts.filter((part) => part.data).map((part) => h("figure", {},
      h("img", { src: `data:${part.media_type};base64,${part.data}`, alt: part.text }), h("figcaption", {}, part.text))),
    result.parts.some((part) => part.kind !== "text" && !part.data)
      ? h("ul", {}, result.parts.filter((part) => part.kind !== "text" && !part.data).map((part) => h("li", {}, part.text))) : null,
    result.json === null ? null : h("details", {}, h("summary", {}, "as JSON"), pre(json(result.json), "The result as JSON")),
    done.records?.length ? [h("h4", {}, "Log"), h("ul", { class: "records" }, done.records.map((record) => h("li", {}, `${record.level} ${record.logger}: ${record.text}`)))] : null,
    done.progress?.length ? h("details", {}, h("summary", {}, `progress (${done.progress.length})`),
      h("ul", {}, done.progress.map((step) => h("li", {}, `${step.done}${step.total ? ` of ${step.total}` : ""}${step.message ? `: ${step.message}` : ""}`)))) : null);
}

export function question(text, described, yes, answered) {
  const form = new Form(described, null, () => {}, "answer");
  form.show(form.blank(described.root, 0));
  return h("fieldset", {}, h("legend", {}, "A question for a person"), h("p", { class: "text" }, text), form.element,
    button(yes, () => answered(form.value), { class: "main" }));
}
