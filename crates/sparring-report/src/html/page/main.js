// Starts the page: the head, the views, the keyboard shortcuts and the colour theme.

const DRAW = { tests: overviewView, overview: overviewView, latency: latencyView, variants: variantsView };

function show(before) {
  const filtered = !before || FILTERS.some((key) => String(keyOf(before[key])) !== String(keyOf(state[key])));
  if (filtered) {
    filterTests();
    buildRows();
    showFilters();
  }
  const test = state.test ? byId.get(state.test) : null;
  document.body.dataset.main = test ? "test" : state.view;
  for (const link of $("views").children) {
    const current = !test && (link.dataset.view === state.view || (state.view === "tests" && link.dataset.view === "overview" && isWide()));
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  // The view of one test does not depend on the filter.
  if (!before || (test ? before.test !== state.test : filtered || before.test || before.view !== state.view)) {
    clearTimeout(drawingLater);
    // While the user types, only the list is updated; the view follows after a pause.
    if (before && before.q !== state.q) drawingLater = setTimeout(drawMain, 150);
    else drawMain();
  }
  markShown();
}

let drawingLater;

function drawMain() {
  $("main").replaceChildren(state.test ? testView(byId.get(state.test)) : DRAW[state.view]());
  $("main").scrollTop = 0;
}

const FILTERS = ["q", "status", ...Object.keys(FACETS)];

function keyOf(value) {
  return value instanceof Set ? [...value].sort() : value;
}

function isWide() {
  return matchMedia("(min-width: 900px)").matches;
}

function startHead() {
  const began = new Date(run.began);
  const when = Number.isNaN(began.getTime())
    ? run.began
    : began.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  const { project, branch, commit, url } = run.build ?? {};
  put($("facts"), [
    project && el("span", { title: "project" }, project),
    branch && el("span", { title: "branch" }, branch),
    commit && el("span", { title: `commit ${commit}` }, el("code", {}, commit.slice(0, 10))),
    // Other schemes could run scripts.
    /^https?:\/\//.test(url ?? "") && el("a", { class: "link", href: url, target: "_blank", rel: "noopener noreferrer" }, "CI run"),
    el("span", { title: run.began }, when),
    el("span", {}, time(run.took_ms)),
    el("span", {}, `spar ${run.spar}`),
    run.shard && el("span", {}, `shard ${run.shard}`),
    run.stopped && el("span", { class: "label warn" }, "stopped early"),
  ]);
  for (const view of VIEWS) {
    const word = { tests: "Tests", overview: "Overview", latency: "Latency", variants: "Variants" }[view];
    $("views").append(el("button", { type: "button", "data-view": view, onclick: () => navigate({ view, test: null }, { step: true }) }, word));
  }
}

function startTheme() {
  const button = $("theme");
  const order = ["system", "light", "dark"];
  const now = () => document.documentElement.dataset.theme ?? "system";
  const showTheme = () => {
    const label = `Colours: ${now() === "system" ? "system default" : now()}`;
    button.replaceChildren(icon({ system: "system", light: "sun", dark: "moon" }[now()]));
    button.setAttribute("aria-label", label);
    button.title = label;
  };
  button.addEventListener("click", () => {
    const next = order[(order.indexOf(now()) + 1) % order.length];
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      if (next === "system") localStorage.removeItem("sparring-theme");
      else localStorage.setItem("sparring-theme", next);
    } catch {
      // Without storage the choice lasts until the page is closed.
    }
    showTheme();
    announce(button.title);
  });
  showTheme();
}

const KEYS = {
  "/": () => {
    if (!isWide()) navigate({ view: "tests", test: null });
    box.focus();
    box.select();
  },
  j: () => moveActive(1),
  k: () => moveActive(-1),
  n: () => moveActive(1, (row) => row.test?.status === "failed"),
  p: () => moveActive(-1, (row) => row.test?.status === "failed"),
  "?": () => $("help").showModal(),
};

function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key === "Escape") {
      if (typing) tree.focus();
      else if (state.test) closeTest();
      else if (document.activeElement !== tree) tree.focus();
      return;
    }
    if (typing) return;
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    const inMain = $("main").contains(document.activeElement);
    act();
    if (!"jknp".includes(event.key)) return;
    if (!inMain) tree.focus();
    else if (state.test) $("title").focus();
  });
  $("keys").addEventListener("click", () => $("help").showModal());
  $("skip").addEventListener("click", (event) => {
    // The address holds the state, so it cannot also hold an anchor.
    event.preventDefault();
    tree.focus();
  });
  addEventListener("hashchange", addressChanged);
  addEventListener("popstate", addressChanged);
}

// Handles a change of the address by the history or by hand.
function addressChanged() {
  const before = state;
  state = readState();
  if (address(before) !== address(state)) show(before);
}

startHead();
startTheme();
startFilters();
startList();
startKeys();
show(null);
performance.mark("ready");
document.documentElement.dataset.ready = "true";
