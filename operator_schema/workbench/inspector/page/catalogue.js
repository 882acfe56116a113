// The first page: what the tools cost, what a provider doesn't take, and what lint says.
import { fill, h, plural, table } from "./dom.js";

export function showCatalogue(main, catalogue) {
  const sent = catalogue.provider;
  const about = catalogue.is_estimate ? "estimated" : "by tiktoken";
  const byCost = [...catalogue.tools].sort((one, other) => other.tokens - one.tokens);
  fill(main,
    h("h2", {}, "Catalogue"),
    h("p", {}, `${plural(catalogue.tools.length, "tool")}, ${plural(catalogue.tokens, "token")} (${about}), ${plural(catalogue.bytes, "byte")}: this goes along with every request.`),
    h("p", {}, `${sent.name}${sent.strict ? ", strict" : ""} gets ${plural(sent.tokens, "token")}, ${plural(sent.bytes, "byte")}.`,
      sent.accepted ? "" : " It refuses some of it."),
    sent.refused.map((line) => h("p", { class: "bad" }, `Refused: ${line}`)),
    catalogue.notes.map((line) => h("p", { class: "note" }, line)),
    table("What each tool costs, the most expensive first", ["tool", "tokens", "share", `tokens at ${sent.name}`, "bytes there", `what ${sent.name} isn't told`, "lint", "marks"],
      byCost.map((tool) => [toolLink(tool), tool.tokens, share(tool), tool.sent_tokens ?? "refused", tool.sent_bytes ?? "refused",
        tool.refused ? h("a", { href: toolAddress(tool.name, "sent"), class: "bad" }, "refused") : tool.losses ? h("a", { href: toolAddress(tool.name, "sent") }, plural(tool.losses, "thing")) : "nothing",
        lintOf(tool), marksOf(tool).join(", ")])),
    findings("What lint says", catalogue.findings));
}

export function toolAddress(name, tab) {
  return `#/tool/${encodeURIComponent(name)}/${tab}`;
}

function toolLink(tool) {
  return h("a", { href: toolAddress(tool.name, "sent") }, tool.name);
}

function share(tool) {
  const percent = Math.round(tool.share * 100);
  return h("span", { class: "share" }, h("meter", { min: 0, max: 100, value: percent, "aria-label": `share of ${tool.name}` }), ` ${percent} %`);
}

function lintOf(tool) {
  const found = [tool.errors ? plural(tool.errors, "error") : "", tool.warnings ? plural(tool.warnings, "warning") : ""].filter(Boolean);
  return found.length ? h("a", { href: toolAddress(tool.name, "lint") }, found.join(", ")) : "";
}

export function marksOf(tool) {
  return [tool.confirm && "confirm", tool.destructive && "destructive", tool.read_only && "only reads", !tool.enabled && "off"].filter(Boolean);
}

export function findings(caption, found) {
  if (!found.length) return h("p", {}, `${caption}: nothing.`);
  return table(caption, ["severity", "where", "what", "what to do"], found.map((finding) =>
    [finding.severity ?? "error", place(finding), finding.message, finding.remedy ?? ""]));
}

function place(finding) {
  const where = [finding.tool, finding.path].filter(Boolean).join(": ") || "all tools";
  return finding.where ? `${where} (${finding.where})` : where;
}
