// The list of tests by suite. Only visible rows exist as elements, so that long lists are
// fast.

const tree = $("tree");
const space = $("tree-space");
const folded = new Set();
const drawn = new Map();
let rows = [];
let active = -1;

const treeHead = $("tree-head");
const touch = matchMedia("(pointer: coarse)");

function buildRows() {
  const suites = new Map();
  for (const test of matching) {
    if (!suites.has(test.suite)) suites.set(test.suite, []);
    suites.get(test.suite).push(test);
  }
  const before = rows[active];
  rows = [];
  let top = 0;
  const [suiteHeight, testHeight] = touch.matches ? [46, 44] : [38, 32];
  const add = (row) => {
    row.index = rows.length;
    row.top = top;
    row.height = row.test ? testHeight : suiteHeight;
    top += row.height;
    rows.push(row);
    return row;
  };
  let place = 0;
  // Failing suites come first.
  const failing = ([, its]) => its.some((test) => test.status === "failed");
  const sorted = [...suites].sort((a, b) => failing(b) - failing(a));
  for (const [suite, its] of sorted) {
    place += 1;
    const head = add({ suite, tests: its, place, of: suites.size });
    if (folded.has(suite)) continue;
    its.forEach((test, index) => add({ test, head, place: index + 1, of: its.length }));
  }
  space.style.height = `${top}px`;
  active = before ? rows.findIndex((row) => sameRow(row, before)) : -1;
  for (const element of drawn.values()) element.remove();
  drawn.clear();
  delete treeHead.dataset.row;
  $("none").hidden = rows.length > 0;
  drawRows();
}

function sameRow(one, other) {
  return one.test === other.test && one.suite === other.suite;
}

// Returns the first row that ends below this height.
function rowAt(height) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].top + rows[middle].height <= height) low = middle + 1;
    else high = middle;
  }
  return low;
}

function drawRows() {
  const from = rowAt(tree.scrollTop - 200);
  const to = rowAt(tree.scrollTop + tree.clientHeight + 200) + 1;
  for (const [index, element] of drawn) {
    if ((index < from || index >= to) && index !== active) {
      element.remove();
      drawn.delete(index);
    }
  }
  for (let index = from; index < Math.min(to, rows.length); index += 1) drawRow(index);
  if (active >= 0) drawRow(active);
  drawHead(rows[rowAt(tree.scrollTop)]);
}

// Keeps the suite of the first visible test at the top.
function drawHead(first) {
  const head = first?.head ?? (first && tree.scrollTop > first.top ? first : null);
  if (treeHead.dataset.row === String(head?.index)) return;
  treeHead.dataset.row = String(head?.index);
  treeHead.replaceChildren();
  if (!head) return;
  const row = suiteRow(head);
  row.removeAttribute("role");
  row.dataset.row = head.index;
  row.style.height = `${head.height}px`;
  treeHead.append(row);
}

function drawRow(index) {
  if (drawn.has(index)) return;
  const row = rows[index];
  const element = row.test ? testRow(row) : suiteRow(row);
  element.id = `row-${index}`;
  element.dataset.row = index;
  element.style.transform = `translateY(${row.top}px)`;
  element.style.height = `${row.height}px`;
  element.classList.toggle("active", index === active);
  drawn.set(index, element);
  space.append(element);
}

function suiteRow({ suite, tests: its, place, of }) {
  const failed = its.filter((test) => test.status === "failed").length;
  const open = !folded.has(suite);
  const cut = suite.lastIndexOf("/") + 1;
  return el(
    "div",
    { class: "row suite", role: "treeitem", "aria-level": 1, "aria-expanded": String(open), "aria-posinset": place, "aria-setsize": of, title: suite },
    icon(open ? "open" : "closed"),
    el("span", { class: "path" }, el("span", { class: "folder" }, suite.slice(0, cut)), el("span", { class: "file" }, suite.slice(cut))),
    failed > 0 && el("span", { class: "tally failed" }, count(failed, "failed", "failed")),
    el("span", { class: "tally" }, count(its.length, "test")),
  );
}

function testRow({ test, place, of }) {
  const broken = test.rules.length;
  return el(
    "div",
    { class: `row test ${test.status}`, role: "treeitem", "aria-level": 2, "aria-posinset": place, "aria-setsize": of, "aria-selected": String(test.id === state.test), title: test.name, "data-test": test.id },
    icon(test.status, STATUS[test.status].word),
    el("span", { class: "name" }, test.name),
    broken > 0 && el("span", { class: "broken", title: count(broken, "violation") }, icon("violation", count(broken, "violation"))),
    test.variant && el("span", { class: "variant" }, test.variant),
    el("span", { class: "took" }, tookOf(test)),
  );
}

function activate(index, { scroll = true } = {}) {
  if (index < 0 || index >= rows.length) return;
  drawn.get(active)?.classList.remove("active");
  active = index;
  if (scroll) {
    const row = rows[index];
    const top = row.top - (row.head?.height ?? 0);
    if (top < tree.scrollTop) tree.scrollTop = top;
    else if (row.top + row.height > tree.scrollTop + tree.clientHeight) {
      tree.scrollTop = row.top + row.height - tree.clientHeight;
    }
  }
  drawRows();
  drawn.get(index).classList.add("active");
  tree.setAttribute("aria-activedescendant", `row-${index}`);
}

// Marks the open test and scrolls it into view.
function markShown() {
  for (const element of drawn.values()) {
    if (element.dataset.test) element.setAttribute("aria-selected", String(element.dataset.test === state.test));
  }
  if (!state.test) return;
  const test = byId.get(state.test);
  if (rows[active]?.test === test) return;
  if (folded.delete(test.suite)) buildRows();
  activate(rows.findIndex((row) => row.test === test));
}

function openRow(index, { focus = true } = {}) {
  const row = rows[index];
  if (!row) return;
  activate(index);
  if (row.suite !== undefined) fold(row.suite, !folded.has(row.suite));
  else navigate({ test: row.test.id }, { step: true });
  if (row.test && focus) $("title").focus();
}

function fold(suite, closed) {
  if (closed) folded.add(suite);
  else folded.delete(suite);
  buildRows();
  activate(active);
}

// Moves to the next row for which `fits` is true. If a test is open, opens that one instead.
function moveActive(by, fits = (row) => row.test) {
  let index = active;
  do index += by;
  while (rows[index] && !fits(rows[index]));
  if (!rows[index]) return;
  activate(index);
  if (state.test && rows[index].test) navigate({ test: rows[index].test.id });
}

function treeKeys(event) {
  const row = rows[active];
  const keys = {
    ArrowDown: () => moveActive(1, () => true),
    ArrowUp: () => moveActive(-1, () => true),
    Home: () => activate(0),
    End: () => activate(rows.length - 1),
    PageDown: () => activate(Math.min(rows.length - 1, active + 15)),
    PageUp: () => activate(Math.max(0, active - 15)),
    Enter: () => openRow(active),
    " ": () => openRow(active),
    ArrowRight: () => row?.suite !== undefined && fold(row.suite, false),
    ArrowLeft: () => {
      if (row?.suite !== undefined) fold(row.suite, true);
      else activate(rows.findIndex((one) => one.suite === row?.test.suite));
    },
  };
  const act = keys[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
}

function startList() {
  let waiting = false;
  tree.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      drawRows();
    });
  });
  new ResizeObserver(drawRows).observe(tree);
  touch.addEventListener("change", buildRows);
  tree.addEventListener("keydown", treeKeys);
  // Only keyboard focus activates a row: a clicked row must not move.
  tree.addEventListener("focus", () => {
    if (active < 0 && rows.length && tree.matches(":focus-visible")) activate(Math.min(1, rows.length - 1));
  });
  tree.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) openRow(Number(row.dataset.row), { focus: false });
  });
}
