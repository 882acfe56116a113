// Calls that wait for a person in a store.
import { Problem, get, post } from "./api.js";
import { ask, button, fill, freshId, h, json, plural, pre } from "./dom.js";
import { question, showResult } from "./try.js";

export async function showRounds(main, changed) {
  const found = await get("waiting");
  fill(main, h("h2", {}, "Waiting for a person"),
    found.rounds.length ? null : h("p", {}, "Nothing waits in the store."),
    found.rounds.map((round) => roundView(round, changed)),
    found.more ? h("p", {}, `${plural(found.more, "more round")} wait.`) : null,
    found.stuck.length ? [h("h3", {}, "Running now, or stuck"), h("p", {}, "A process took these rounds. If it died, take them back in your program: store.take_back."),
      h("ul", {}, found.stuck.map((one) => h("li", {}, `${one.id}, for ${Math.round(one.seconds)} s${one.has_begun ? "" : ", nothing has run yet"}${one.calls.length ? `: ${one.calls.join(", ")}` : ""}`)))] : null);
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
  const decide = (call, action, value) => act(() => post("waiting/decide", { round_id: round.id, call: call.index, seen: call.seen, action, value }));
  const run = () => act(async () => {
    const asked = await post("waiting/run", { round_id: round.id });
    const agreed = await ask("Run this here?", asked.question, "Run it once");
    return agreed ? post("waiting/run", { round_id: round.id, agreement: asked.agreement }) : now;
  });
  let now = round;
  const draw = (found) => {
    now = found;
    fill(said);
    fill(view, h("h3", { id: heading }, `Round ${found.id}`), found.problem ? pre(found.problem, "Problem") : null,
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

function decisions(call, decide) {
  const reason = h("input", { type: "text", "aria-label": `Reason for rejecting ${call.tool}`, placeholder: "reason, for the model" });
  const reject = [reason, button("Reject", () => decide(call, "reject", reason.value), { "aria-label": `Reject ${call.tool}` })];
  if (call.question) {
    return [question(call.question.text, call.question.form, "Answer", (value) => decide(call, "answer", value)), h("p", { class: "buttons" }, reject)];
  }
  const editor = h("textarea", { rows: 6, spellcheck: "false", "aria-label": `Other arguments for ${call.tool}`, value: json(call.arguments) });
  const wrong = h("p", { class: "bad", role: "alert" });
  const edit = () => {
    let value = null;
    try { value = JSON.parse(editor.value); } catch { fill(wrong, "This isn't JSON."); return; }
    decide(call, "approve", value);
  };
  return [h("p", { class: "buttons" }, button("Approve", () => decide(call, "approve"), { class: "main", "aria-label": `Approve ${call.tool}` }), reject),
    call.arguments === null ? null : h("details", {}, h("summary", {}, "Change the arguments"), editor, wrong,
      button("Approve with these arguments", edit, { "aria-label": `Approve ${call.tool} with these arguments` }))];
}
