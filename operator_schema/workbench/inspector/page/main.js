// The frame: which page is shown, which provider is chosen, and whether the tools have changed.
import { Problem, get } from "./api.js";
import { marksOf, showCatalogue, toolAddress } from "./catalogue.js";
import { showPaste, showRecorded, showTried } from "./calls.js";
import { button, fill, h, plural } from "./dom.js";
import { showRounds } from "./rounds.js";
import { showTool } from "./tool.js";

const LOOK = 1500;
const [main, provider, strict, status, filter] = ["main", "provider", "strict", "status", "filter"].map((id) => document.getElementById(id));
const state = { provider: "openai_chat", strict: false, providers: [], catalogue: { tools: [] }, seen: null, choose };

function choose(name) {
  state.provider = provider.value = name;
  refresh();
}

async function look() {
  let seen = null;
  try {
    seen = await get("state");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    fill(status, h("span", { class: "bad" }, error.message));
    return;
  }
  const before = state.seen;
  state.seen = seen;
  fill(status, seen.problem ? h("span", { class: "bad" }, `Not reloaded: ${seen.problem}`) : seen.version > 1 ? `Loaded ${seen.version} times.` : "");
  if (before === null || before.version !== seen.version) await refresh();
  else if (JSON.stringify(before) !== JSON.stringify(seen)) drawPages();
}

async function refresh() {
  try {
    state.catalogue = await get("catalogue", { provider: state.provider, strict: state.strict ? "1" : "0" });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    fill(main, h("p", { class: "bad" }, error.message));
    return;
  }
  const catalogue = state.catalogue;
  document.title = `${catalogue.name} – Inspector`;
  fill(document.getElementById("name"), catalogue.name);
  fill(document.getElementById("totals"), `${plural(catalogue.tools.length, "tool")}, ${plural(catalogue.tokens, "token")}`);
  drawPages();
  drawTools();
  await show();
}

function drawPages() {
  const { recorded, waiting, tried } = state.seen;
  const pages = [["#/", "Catalogue"], ["#/paste", "Paste an answer"], ["#/tried", `Tried calls (${tried})`]];
  if (recorded !== null) pages.push(["#/calls", `Recorded calls (${recorded})`]);
  if (waiting !== null) pages.push(["#/rounds", `Waiting (${waiting})`]);
  const here = location.hash || "#/";
  fill(document.getElementById("pages"), pages.map(([address, text]) =>
    h("li", {}, h("a", { href: address, "aria-current": address === here ? "page" : undefined }, text))));
}

function drawTools() {
  const [kind, current] = place();
  const wanted = filter.value.toLowerCase();
  const shown = state.catalogue.tools.filter((tool) => tool.name.toLowerCase().includes(wanted));
  fill(document.getElementById("tools"), shown.map((tool) => {
    const marks = [...marksOf(tool), tool.refused && "refused", tool.losses > 0 && (tool.losses === 1 ? "1 differs" : `${tool.losses} differ`), tool.errors > 0 && plural(tool.errors, "error"), tool.warnings > 0 && plural(tool.warnings, "warning")].filter(Boolean);
    return h("li", {}, h("a", { href: toolAddress(tool.name, kind === "tool" ? place()[2] ?? "sent" : "sent"), "aria-current": kind === "tool" && tool.name === current ? "page" : undefined },
      h("span", { class: "name" }, tool.name), h("span", { class: "number" }, tool.tokens.toLocaleString("en")),
      marks.length ? h("span", { class: "dim" }, marks.join(" · ")) : null));
  }), shown.length ? null : h("li", {}, "No tool has such a name."));
}

function place() {
  const steps = location.hash.replace(/^#\//, "").split("/");
  try { return steps.map(decodeURIComponent); } catch { return [""]; } // somebody changed the address
}

async function show() {
  const [kind, name, tab] = place();
  try {
    if (kind === "tool") await showTool(main, state, name, tab ?? "sent");
    else if (kind === "calls") await showRecorded(main);
    else if (kind === "tried") await showTried(main);
    else if (kind === "paste") showPaste(main, state);
    else if (kind === "rounds") await showRounds(main, look);
    else showCatalogue(main, state.catalogue);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    fill(main, h("h2", {}, "That didn't work"), h("p", { class: "bad" }, error.message), button("Try again", refresh));
  }
}

function moved() {
  drawPages();
  drawTools();
  show().then(() => main.querySelector("h2")?.scrollIntoView({ block: "nearest" }));
}

async function begin() {
  history.replaceState(null, "", `/${location.hash}`); // the token needn't stay in the address
  const { providers } = state.seen = await get("state");
  state.providers = Object.entries(providers);
  fill(provider, state.providers.map(([value, name]) => h("option", { value }, name)));
  provider.value = state.provider;
  provider.addEventListener("change", () => choose(provider.value));
  strict.addEventListener("change", () => { state.strict = strict.checked; refresh(); });
  filter.addEventListener("input", drawTools);
  document.getElementById("skip").addEventListener("click", () => main.focus());
  window.addEventListener("hashchange", moved);
  await refresh();
  setInterval(() => { if (!document.hidden) look(); }, LOOK);
}

begin().catch((error) => fill(status, h("span", { class: "bad" }, error.message)));
