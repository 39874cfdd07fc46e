// The filter box, a toggle for each status, and a select for each facet.

const box = $("filter");

function startFilters() {
  box.addEventListener("input", () => navigate({ q: box.value }));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      tree.focus();
      activate(rows.findIndex((row) => row.test));
    }
  });
  const counts = new Map();
  for (const test of tests) counts.set(test.status, (counts.get(test.status) ?? 0) + 1);
  for (const status of Object.keys(STATUS)) {
    if (!counts.has(status)) continue;
    const flip = () => {
      const chosen = new Set(state.status);
      if (!chosen.delete(status)) chosen.add(status);
      navigate({ status: chosen });
    };
    $("statuses").append(
      el("button", { type: "button", class: `chip ${status}`, "data-status": status, "aria-pressed": "false", onclick: flip },
        icon(status), el("span", {}, STATUS[status].word), el("b", {}, counts.get(status).toLocaleString("en"))),
    );
  }
  for (const [facet, { label, values }] of Object.entries(FACETS)) {
    // A facet with the same value in all tests is useless.
    if (values.length < (facet === "tag" || facet === "rule" ? 1 : 2)) continue;
    const choice = el("select", { id: `facet-${facet}`, onchange: () => navigate({ [facet]: choice.value || null }) },
      el("option", { value: "" }, "any"));
    for (const [value, its] of values) {
      const option = el("option", {}, `${value} (${its.toLocaleString("en")})`);
      option.value = value;
      choice.append(option);
    }
    $("facets").append(el("label", { class: "facet" }, el("span", {}, label), choice));
  }
  $("reset").addEventListener("click", resetFilters);
}

function resetFilters() {
  const none = { q: "", status: new Set() };
  for (const facet of Object.keys(FACETS)) none[facet] = null;
  navigate(none);
  box.focus();
}

function showFilters() {
  if (box.value !== state.q) box.value = state.q;
  for (const chip of $("statuses").children) {
    chip.setAttribute("aria-pressed", String(state.status.has(chip.dataset.status)));
  }
  for (const facet of Object.keys(FACETS)) {
    const choice = $(`facet-${facet}`);
    if (!choice) continue;
    choice.value = state[facet] ?? "";
    choice.classList.toggle("chosen", Boolean(state[facet]));
  }
  $("reset").hidden = !isFiltered();
  const all = count(tests.length, "test");
  $("found").textContent = isFiltered() ? `${matching.length.toLocaleString("en")} of ${all}` : all;
}
