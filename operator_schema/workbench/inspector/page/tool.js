// One tool: what a provider gets of it, a place to try it, and what lint says.
import { get } from "./api.js";
import { findings, marksOf, toolAddress } from "./catalogue.js";
import { fill, h, json, plural, pre, table } from "./dom.js";
import { showTry } from "./try.js";

const TABS = { sent: "What the provider gets", try: "Try it", lint: "Lint", schema: "Schema" };

export async function showTool(main, state, name, tab) {
  const tool = await get("tool", { name, provider: state.provider, strict: state.strict ? "1" : "0" });
  const inside = h("div", { class: "tab" });
  const row = state.catalogue.tools.find((one) => one.name === name);
  fill(main,
    h("h2", {}, tool.name),
    h("p", { class: "marks" }, [...(row ? marksOf(row) : []), tool.is_async ? "async" : "", tool.has_function ? "" : "without a function"].filter(Boolean)
      .map((mark) => h("span", { class: "mark" }, mark))),
    h("p", { class: "text" }, tool.description),
    tool.injected.length ? h("p", { class: "dim" }, `Your program gives: ${tool.injected.join(", ")}.`) : null,
    h("nav", { "aria-label": "About the tool" }, h("ul", { class: "tabs" }, Object.entries(TABS).map(([key, text]) =>
      h("li", {}, h("a", { href: toolAddress(name, key), "aria-current": key === tab ? "page" : undefined },
        key === "lint" ? `${text} (${tool.findings.length})` : text))))),
    inside);
  switch (tab) {
    case "try": showTry(inside, state, tool); break;
    case "lint": fill(inside, findings("What lint says of this tool", tool.findings)); break;
    case "schema": fill(inside, h("h3", {}, "Our definition"), pre(json(tool.definition), "Our definition"),
      tool.output_schema ? [h("h3", {}, "Result"), pre(json(tool.output_schema), "Schema of the result")] : null); break;
    default: showSent(inside, state, tool);
  }
}

function showSent(main, state, tool) {
  const sent = tool.sent;
  const mode = sent.strict ? "strict" : sent.has_strict ? "not strict" : "which has no strict mode";
  const onlyChanges = h("input", { type: "checkbox", checked: true, id: "only-changes" });
  const lines = h("div", {});
  const draw = () => fill(lines, comparison(sent, onlyChanges.checked));
  onlyChanges.addEventListener("change", draw);
  draw();
  fill(main,
    h("h3", {}, sent.refused.length ? `${sent.provider} refuses it` : `What ${sent.provider} isn't told`),
    sent.refused.map((finding) => h("p", { class: "bad" }, `${finding.path ? `${finding.path}: ` : ""}${finding.message}. ${finding.remedy ?? ""}`)),
    sent.tokens === null ? null : h("p", {}, `${sent.provider}, ${mode}, gets ${plural(sent.tokens, "token")}, ${plural(sent.bytes, "byte")}`,
      sent.wire_name === tool.name ? "." : `, under the name ${sent.wire_name}.`),
    sent.losses.length
      ? table(`${sent.losses.length === 1 ? "One thing is" : `${sent.losses.length} things are`} said in another way`, ["parameter", "what", "keyword", "in words"],
        sent.losses.map((loss) => [loss.path || "(all)", loss.code, loss.keyword ?? "", loss.message]))
      : sent.refused.length ? null : h("p", {}, state.strict ? "Nothing is lost." : "Nothing is lost without the strict mode; tick strict above to see what that changes."),
    sent.rows.length ? [h("h3", {}, "Ours beside theirs"),
      h("p", {}, onlyChanges, h("label", { for: "only-changes" }, " only what differs")), lines] : null,
    providers(state, tool),
    table("What costs the tokens of this tool", ["part", "tokens"], tool.costs.map((cost) => [cost.part, cost.tokens])));
}

const AROUND = 2;

function comparison(sent, onlyChanges) {
  const near = new Set(sent.rows.flatMap((row, place) => (row.same === true ? [] : Array.from({ length: 2 * AROUND + 1 }, (_, step) => place + step - AROUND))));
  const rows = sent.rows.map((row, place) => ({ ...row, place })).filter((row) => !onlyChanges || near.has(row.place));
  if (!rows.length) return h("p", {}, "They say the same.");
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Ours beside theirs" },
    h("table", { class: "lines" }, h("caption", { class: "hidden" }, "Ours beside theirs"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "hidden" }, "differs")), h("th", { scope: "col" }, "ours"), h("th", { scope: "col" }, sent.provider))),
      h("tbody", {}, rows.map((row, index) => [
        index && row.place - rows[index - 1].place > 1 ? h("tr", { class: "gap" }, h("td", { colspan: 3 }, "…")) : null,
        h("tr", { class: row.same === false ? "differs" : undefined },
          h("td", {}, row.same === false ? "≠" : ""), h("td", {}, row.ours ?? ""), h("td", {}, row.theirs ?? "")),
      ]))));
}

function providers(state, tool) {
  return table(`All providers${state.strict ? ", strict where they have it" : ""}`, ["provider", "mode", "tokens", "bytes", "said differently", "refused"],
    tool.providers.map((one) => [
      h("button", { type: "button", class: "link", onclick: () => state.choose(one.key), "aria-pressed": String(one.key === state.provider) }, one.name),
      one.strict ? "strict" : one.has_strict ? "not strict" : "has no strict mode", one.tokens ?? "–", one.bytes ?? "–",
      Object.entries(one.losses).map(([kind, number]) => `${number} ${kind}`).join(", ") || "nothing", one.refused.join(" ")]));
}
