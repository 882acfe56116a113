// Calls that wait for a person in a store.
import { Problem, get, post } from "./api.js";
import { ask, button, fill, freshId, h, json, plural, pre } from "./dom.js";
import { question, showResult } from "./try.js";

const filters = { conversation: "", tool: "", state: "", older_than: "" };
const STATES = { "": "all", deferred: "for a person", pending: "to be run", complete: "for their commit" };

export async function showRounds(main, changed) {
  const list = h("div", {});
  const counts = h("p", { role: "status" });
  const stuck = h("div", {});
  const more = async (after) => {
    const found = await get("waiting", { ...filters, after });
    fill(counts, summary(found.counts));
    fill(stuck, stuckView(found.stuck));
    list.append(...found.rounds.map((round) => roundView(round, changed)));
    if (!found.rounds.length) list.append(h("p", {}, "Nothing waits in the store, or nothing that fits the filters."));
    if (found.after !== null) {
      const next = button("More rounds", () => { next.remove(); more(found.after); });
      list.append(next);
    }
  };
  fill(main, h("h2", {}, "Waiting for a person"), counts, filterView(() => { fill(list); more(0); }), list, stuck);
  await more(0);
}

function filterView(search) {
  const field = (name, text, more) => h("label", {}, `${text} `, h("input", { value: filters[name], onchange: (event) => { filters[name] = event.target.value.trim(); }, ...more }));
  const state = h("select", { onchange: (event) => { filters.state = event.target.value; } },
    Object.entries(STATES).map(([value, text]) => h("option", { value, selected: value === filters.state }, text)));
  return h("form", { class: "buttons", onsubmit: (event) => { event.preventDefault(); search(); } },
    field("conversation", "Conversation"), field("tool", "Tool"), h("label", {}, "Waiting ", state),
    field("older_than", "Older than, in seconds", { type: "number", min: "0" }), h("button", {}, "Filter"));
}

function summary(counts) {
  const oldest = counts.oldest === null ? "" : `, the oldest for ${age(counts.oldest)}`;
  return `${plural(counts.deferred, "round")} for a person${oldest}; ${counts.pending.toLocaleString("en")} to be run, ${counts.complete.toLocaleString("en")} for their commit.`;
}

function stuckView(stuck) {
  if (!stuck.length) return null;
  const words = (one) => [one.id, one.conversation && `of ${one.conversation}`, one.is_running ? "runs now" : "stuck", `for ${age(one.seconds)}`, one.owner && `in ${one.owner}`,
    one.has_begun ? null : "nothing has run yet", one.calls.join(", ")].filter(Boolean).join(", ");
  return [h("h3", {}, "Running now, or stuck"), h("p", {}, "A process took these rounds. If it died, take them back: operator-schema store DATABASE take-back ROUND."),
    h("ul", {}, stuck.map((one) => h("li", {}, words(one))))];
}

function age(seconds) {
  for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (seconds >= size) return plural(Math.floor(seconds / size), unit);
  }
  return plural(Math.max(0, Math.floor(seconds)), "second");
}

function whose(round) {
  const since = round.since === undefined ? null : `waits since ${new Date(round.since * 1000).toLocaleString("en")}`;
  const about = round.about === null || round.about === undefined ? null : JSON.stringify(round.about);
  return [round.conversation, since, about].filter(Boolean).join(" · ");
}

function roundView(round, changed) {
  const heading = freshId();
  const view = h("article", { "aria-labelledby": heading });
  const said = h("p", { role: "status" });
  const act = async (action) => {
    try {
      draw(await action());
      changed();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      fill(said, h("span", { class: "bad" }, error.message));
    }
  };
  const decide = (call, action, value, said) => act(() => post("waiting/decide", { round_id: round.id, call: call.index, seen: call.seen, action, value, words: said }));
  const run = () => act(async () => {
    const asked = await post("waiting/run", { round_id: round.id });
    const agreed = await ask("Run this here?", asked.question, "Run it once");
    return agreed ? post("waiting/run", { round_id: round.id, agreement: asked.agreement }) : now;
  });
  let now = round;
  const draw = (found) => {
    now = { ...now, ...found };
    fill(said);
    fill(view, h("h3", { id: heading }, `Round ${found.id}`), h("p", { class: "dim" }, whose(now)), found.problem ? pre(found.problem, "Problem") : null,
      found.calls.map((call) => callView(call, decide)),
      found.pending ? h("p", { class: "buttons" }, button(`Run ${plural(found.pending, "approved call")} here…`, run),
        h("span", { class: "dim" }, "or leave it to your program, which finds the decision in the store")) : null,
      found.is_complete ? h("p", { class: "good" }, "Every call has its result: your program loads the round and commits it.") : null,
      said);
  };
  draw(round);
  return view;
}

function callView(call, decide) {
  const result = h("div", {});
  if (call.result) showResult(result, { result: call.result });
  return h("section", { class: "call", "aria-label": `${call.tool}, ${call.state}` },
    h("h4", {}, `${call.tool}: ${words(call)}`),
    call.reason && !call.question ? h("p", {}, `Why: ${call.reason}`) : null,
    call.decisions.map((one) => h("p", { class: "dim" }, decisionText(one))),
    call.state === "deferred" || call.state === "pending" ? pre(call.text ?? "", "What is to run") : null,
    call.state === "deferred" ? decisions(call, decide) : null, result);
}

function words(call) {
  switch (call.state) {
    case "deferred": return call.question ? "asks something" : "waits for you";
    case "pending": return "approved, not run yet";
    case "handled": return "has its result";
    case "rejected": return "rejected";
    default: return "can't be run";
  }
}

function decisionText(one) {
  return `${new Date(one.when).toLocaleString("en")}: ${one.kind} by ${one.by ?? one.decider}${one.words ? `, who said: ${one.words}` : ""}`;
}

function decisions(call, decide) {
  const reason = h("input", { type: "text", "aria-label": `Reason for rejecting ${call.tool}`, placeholder: "reason, for the model" });
  const said = h("input", { type: "text", "aria-label": `What you say of ${call.tool}`, placeholder: "your words, for the record" });
  const decided = (kind, value) => decide(call, kind, value, said.value);
  const reject = [reason, button("Reject", () => decided("reject", reason.value), { "aria-label": `Reject ${call.tool}` })];
  if (call.question) {
    return [question(call.question.text, call.question.form, "Answer", (value) => decided("answer", value)), h("p", { class: "buttons" }, reject, said)];
  }
  const editor = h("textarea", { rows: 6, spellcheck: "false", "aria-label": `Other arguments for ${call.tool}`, value: json(call.arguments) });
  const wrong = h("p", { class: "bad", role: "alert" });
  const edit = () => {
    let value = null;
    try { value = JSON.parse(editor.value); } catch { fill(wrong, "This isn't JSON."); return; }
    decided("approve", value);
  };
  return [h("p", { class: "buttons" }, button("Approve", () => decided("approve"), { class: "main", "aria-label": `Approve ${call.tool}` }), reject, said),
    call.arguments === null ? null : h("details", {}, h("summary", {}, "Change the arguments"), editor, wrong,
      button("Approve with these arguments", edit, { "aria-label": `Approve ${call.tool} with these arguments` }))];
}
