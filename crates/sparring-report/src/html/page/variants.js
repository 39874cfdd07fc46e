// The variants view: each test in several revisions and over several transports, side by
// side. Tests that differ between variants come first.

function variantsView() {
  const view = el("article", { class: "variants" },
    el("h2", { id: "title", tabindex: "-1" }, "Revisions and transports"));
  const { columns, lines } = collectVariants();
  if (columns.length < 2) {
    view.append(el("p", {}, "These tests ran in one variant only."));
    return view;
  }
  const differ = lines.filter((line) => line.differs.length);
  const same = lines.filter((line) => !line.differs.length);
  view.append(
    el("p", { class: "dim" }, differ.length
      ? `${differ.length.toLocaleString("en")} of ${count(lines.length, "test")} ${differ.length === 1 ? "differs" : "differ"} between variants.`
      : "No test differs between variants."),
    el("div", { class: "wide" }, matrix(columns, lines, differ, same)));
  return view;
}

function collectVariants() {
  const columns = new Map();
  const lines = new Map();
  for (const test of matching) {
    if (!test.variant) continue;
    columns.set(test.variant, { protocol: test.protocol, transport: test.transport, variant: test.variant });
    const key = [test.suite, test.name, test.server].join("\n");
    if (!lines.has(key)) lines.set(key, { test, cells: new Map() });
    const cells = lines.get(key).cells;
    // Tests of the same name share a line, which shows the worst outcome.
    const there = cells.get(test.variant);
    if (!there || STATUS[test.status].order < STATUS[there.status].order) cells.set(test.variant, test);
  }
  const order = new Intl.Collator("en", { numeric: true });
  const sorted = [...columns.values()].sort((a, b) => order.compare(a.variant, b.variant));
  const all = [...lines.values()];
  for (const line of all) line.differs = differencesOf([...line.cells.values()]);
  return { columns: sorted, lines: all };
}

// Names what differs between the variants of a test.
function differencesOf(some) {
  const unlike = (pick) => new Set(some.map(pick)).size > 1;
  return [
    unlike((test) => test.status) && "outcome",
    !unlike((test) => test.status) && some[0].status === "failed" && unlike(messageOf) && "messages",
    unlike((test) => [...new Set(test.rules)].sort().join()) && "violations",
  ].filter(Boolean);
}

function matrix(columns, lines, differ, same) {
  const protocols = [];
  for (const column of columns) {
    const last = protocols.at(-1);
    if (last?.protocol === column.protocol) last.width += 1;
    else protocols.push({ protocol: column.protocol, width: 1 });
  }
  const hasTransports = columns.some((column) => column.transport);
  const hasProtocols = columns.some((column) => column.protocol);
  const corner = Number(hasTransports) + Number(hasProtocols);
  const head = el("thead", {},
    el("tr", {}, el("th", { scope: "col", rowspan: corner }, "test"),
      hasProtocols
        ? protocols.map(({ protocol, width }) => el("th", { scope: "colgroup", colspan: width }, protocol ?? "any revision"))
        : columns.map(({ transport }) => el("th", { scope: "col" }, transport ?? "any transport"))),
    hasTransports && hasProtocols && el("tr", {}, columns.map(({ transport }) => el("th", { scope: "col" }, transport ?? "any"))));
  const tallies = el("tr", { class: "tallies" }, el("th", { scope: "row" }, "all tests"), columns.map(({ variant }) => tally(lines, variant)));
  const body = el("tbody", {}, tallies);
  const title = (text) => el("tr", { class: "band" }, el("th", { colspan: columns.length + 1, scope: "rowgroup" }, text));
  if (differ.length) body.append(title("different between variants"), ...groupedRows(differ, columns));
  if (same.length) body.append(title("the same in all variants"), ...groupedRows(same, columns));
  return el("table", { class: "matrix" }, head, body);
}

// Groups tests by the message of their worst outcome, as the overview does: failures first, the
// largest group of an outcome first, and tests without a message last.
function groupedRows(lines, columns) {
  const found = new Map();
  for (const line of lines) {
    const cause = causeOf(line);
    if (!found.has(cause)) found.set(cause, []);
    found.get(cause).push(line);
  }
  const rank = ([cause, its]) => (cause ? STATUS[worstOf(its[0]).status].order : Infinity);
  const sorted = [...found].sort((a, b) => (rank(a) === rank(b) ? b[1].length - a[1].length : rank(a) - rank(b)));
  return sorted.flatMap(([cause, its]) => {
    const list = matrixRows(its, (line) => matrixRow(line, cause, columns), columns, cause ? 4 : 100);
    return cause ? [causeRow(cause, its, columns), ...list] : list;
  });
}

// Returns the variant of a test with the worst outcome among those with a message.
function worstOf(line) {
  const some = [...line.cells.values()].filter(messageOf);
  return some.sort((a, b) => STATUS[a.status].order - STATUS[b.status].order)[0];
}

function causeOf(line) {
  const worst = worstOf(line);
  return worst ? firstLine(messageOf(worst)) : "";
}

function causeRow(cause, lines, columns) {
  return el("tr", { class: "cause-row" }, el("th", { colspan: columns.length + 1, scope: "rowgroup" },
    el("p", { class: "cause" }, cause, lines.length > 1 && el("span", { class: "times" }, count(lines.length, "test")))));
}

function matrixRows(lines, draw, columns, max = 100) {
  const list = lines.slice(0, max).map(draw);
  if (lines.length <= max) return list;
  const rest = lines.slice(max);
  const button = el("button", { type: "button", class: "more" }, `${rest.length.toLocaleString("en")} more`);
  const row = el("tr", {}, el("td", { colspan: columns.length + 1 }, button));
  button.addEventListener("click", () => row.replaceWith(...matrixRows(rest, draw, columns, 500)));
  return [...list, row];
}

function tally(lines, variant) {
  const its = lines.map((line) => line.cells.get(variant)).filter(Boolean);
  const failed = its.filter((test) => test.status === "failed").length;
  return el("td", { class: failed ? "failed" : "passed" },
    failed ? `${failed.toLocaleString("en")} failed` : `${its.length.toLocaleString("en")} without failure`);
}

// Shows the messages of a test that are not the one of its group.
function matrixRow(line, cause, columns) {
  const reasons = new Map([...line.cells.values()].filter(messageOf).map((test) => [firstLine(messageOf(test)), test.status]));
  reasons.delete(cause);
  return el("tr", { class: line.differs.length ? "differs" : "alike" },
    el("th", { scope: "row" },
      el("span", { class: "name" }, line.test.name),
      el("span", { class: "dim" }, fileName(line.test.suite)),
      line.differs.filter((word) => word !== "outcome").map((word) => el("span", { class: "label warn" }, `different ${word}`)),
      [...reasons].slice(0, 3).map(([reason, status]) => el("span", { class: `reason-line ${status}` }, reason))),
    columns.map(({ variant }) => cell(line.cells.get(variant))));
}

function cell(test) {
  if (!test) return el("td", { class: "absent" }, el("span", { title: "not in the plan" }, "·"));
  return el("td", { class: test.status },
    el("button", { type: "button", title: `${STATUS[test.status].word}: ${firstLine(messageOf(test)) || test.name}`, onclick: () => openTest(test) },
      icon(test.status, STATUS[test.status].word),
      tookOf(test) || STATUS[test.status].word,
      test.rules.length > 0 && icon("violation", count(test.rules.length, "violation"))));
}
