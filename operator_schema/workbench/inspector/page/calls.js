// Calls of a log, calls that were tried, and answers of a provider that were pasted.
import { Problem, get, post } from "./api.js";
import { toolAddress } from "./catalogue.js";
import { button, fill, h, json, plural, pre, table } from "./dom.js";
import { showReading, tryLater } from "./try.js";

function shown(number) {
  return number.toLocaleString("en");
}

function tryIt(tool, text) {
  return button("Try it", () => {
    tryLater(tool, text);
    location.hash = toolAddress(tool, "try");
  }, { "aria-label": `Try it: this call of ${tool}` });
}

export async function showRecorded(main) {
  const found = await get("recorded");
  const counts = found.counts;
  const list = h("div", {});
  const draw = (wanted) => fill(list, found.failing.filter((call) => !wanted || call.tool === wanted).map((call) =>
    h("article", {}, h("h4", {}, `Record ${call.record}: ${call.tool ?? "not a call"}`), pre(call.text, "Why it fails"),
      call.tool ? h("details", {}, h("summary", {}, "what was sent"), pre(call.arguments, "What was sent")) : null,
      call.tool ? tryIt(call.tool, call.arguments) : null)));
  draw("");
  const names = [...new Set(found.failing.map((call) => call.tool).filter(Boolean))];
  const choice = h("select", { id: "of-tool", onchange: (event) => draw(event.target.value) },
    h("option", { value: "" }, "all tools"), names.map((name) => h("option", { value: name }, name)));
  fill(main, h("h2", {}, `Recorded calls (${found.file})`),
    h("p", {}, `${plural(counts.calls, "call")}: ${shown(counts.fit)} fit (${shown(counts.repaired)} of them after a repair), ${shown(counts.failing)} fail, ${shown(counts.unreadable)} can't be read${counts.redacted ? `, and of ${shown(counts.redacted)} it isn't known, since values are redacted` : ""}.`),
    found.reasons.length ? table("Why calls fail, the most frequent first", ["tool", "parameter", "code", "calls"],
      found.reasons.map((reason) => [reason.tool || "–", reason.path || "–", reason.code, reason.calls])) : h("p", { class: "good" }, "No call fails."),
    found.failing.length ? [h("h3", {}, "What the model reads of each"), h("p", {}, h("label", { for: "of-tool" }, "of "), choice)] : null,
    found.failing.length < counts.failing + counts.unreadable ? h("p", { class: "dim" }, `The first ${found.failing.length} are shown.`) : null,
    list);
}

export async function showTried(main) {
  const draw = (found) => {
    const calls = [...found.calls].sort((one, other) => other.changed - one.changed);
    fill(main, h("h2", {}, "Tried calls"),
      h("p", { class: found.changed ? "bad" : "good", role: "status" }, `${found.summary}.`),
      h("p", { class: "dim" }, found.file ? `They are kept in ${found.file}.` : "They are kept until the inspector ends; --tried FILE keeps them longer."),
      found.changed ? button("Take how they are read now as right", async () => draw(await post("tried/accept", {}))) : null,
      calls.map((call) => h("article", { class: call.changed ? "differs" : undefined },
        h("h3", {}, `${call.tool}${call.changed ? ": read differently now" : ""}`), pre(call.arguments, "Arguments"),
        call.changed ? h("div", { class: "halves" },
          h("section", {}, h("h4", {}, "before"), pre(outcome(call.before), "Before")),
          h("section", {}, h("h4", {}, "now"), pre(outcome(call.now), "Now"))) : h("p", { class: "dim" }, call.fits ? "It fits." : "It doesn't fit."),
        h("p", { class: "buttons" }, tryIt(call.tool, call.arguments),
          button("Forget", async () => draw(await post("tried/forget", { index: call.index })), { "aria-label": `Forget this call of ${call.tool}` })))));
  };
  draw(await get("tried"));
}

function outcome(value) {
  return value.text ?? json(value.arguments);
}

let pasted = "";

export function showPaste(main, state) {
  const text = h("textarea", { id: "pasted", rows: 12, spellcheck: "false", value: pasted });
  const provider = h("select", { id: "of" }, h("option", { value: "" }, "find out"), state.providers.map(([value, name]) => h("option", { value }, name)));
  const place = h("div", { "aria-live": "polite" });
  const take = async () => {
    pasted = text.value;
    try {
      showAnswer(place, state, await post("paste", { text: text.value, ...(provider.value ? { provider: provider.value } : {}) }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      fill(place, h("p", { class: "bad" }, error.message));
    }
  };
  fill(main, h("h2", {}, "Paste an answer"),
    h("p", {}, h("label", { for: "pasted" }, "A response of a provider as JSON, the events of a stream, or calls in any usual form")), text,
    h("p", { class: "buttons" }, h("label", { for: "of" }, "provider"), provider, button("Take it apart", take, { class: "main" })), place);
}

function showAnswer(place, state, answer) {
  const known = new Set(state.catalogue.tools.map((tool) => tool.name));
  fill(place,
    h("p", {}, answer.provider ? `Read as ${answer.provider}${answer.others.length ? ` (${answer.others.join(", ")} would read the same)` : ""}.` : "Read as calls alone."),
    answer.stop ? h("p", { class: answer.is_cut_off ? "bad" : undefined }, `It stopped: ${answer.stop}${answer.raw_stop ? ` (${answer.raw_stop})` : ""}${answer.is_cut_off ? ", so it lacks its end" : ""}.`) : null,
    answer.reasoning ? h("details", {}, h("summary", {}, "reasoning"), pre(answer.reasoning, "Reasoning")) : null,
    answer.text ? [h("h3", {}, "Text"), pre(answer.text, "Text")] : null,
    answer.refusal ? [h("h3", {}, "Refusal"), pre(answer.refusal, "Refusal")] : null,
    answer.calls.length ? null : h("p", {}, "It calls no tool."),
    answer.calls.map((call) => {
      const inside = h("div", {});
      if (call.reading && !call.is_cut_off) showReading(inside, call.reading);
      else fill(inside, h("p", { class: "bad" }, call.text));
      return h("article", {}, h("h3", {}, `${call.tool}`), pre(call.arguments, "What was sent"), inside, known.has(call.tool) ? tryIt(call.tool, call.arguments) : null);
    }),
    answer.more_calls ? h("p", {}, `${plural(answer.more_calls, "more call")} aren't shown.`) : null);
}
