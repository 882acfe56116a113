// What the theme leaves out for people who use a keyboard or a screen reader; axe checks it in `make test-site`.
"use strict";

// Each navigation has a name of its own.
function nameNavigations() {
  document.querySelectorAll(".md-code__nav, nav nav").forEach((inner, number) => {
    if (inner.hasAttribute("data-named")) return;
    const label = document.getElementById(inner.getAttribute("aria-labelledby"));
    const name = inner.matches(".md-code__nav") ? "Code" : label?.textContent.trim().replace(/\s+/g, " ") || "Pages";
    inner.removeAttribute("aria-labelledby");
    inner.setAttribute("aria-label", `${name}, ${number + 1}`);
    inner.setAttribute("data-named", "");
  });
}

// A keyboard scrolls a table only if it can be focused.
function reachTables() {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
    else table.removeAttribute("tabindex");
  }
}

// A corner of a table is no header. Markdown can't say so.
for (const corner of document.querySelectorAll("thead th:empty")) {
  corner.replaceWith(document.createElement("td"));
}

nameNavigations();
reachTables();
addEventListener("resize", reachTables);
addEventListener("load", reachTables);
new MutationObserver(() => {
  nameNavigations();
  reachTables();
}).observe(document.body, { childList: true, subtree: true });
