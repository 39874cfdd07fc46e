// The state of the page: it is kept in the address, so that a link restores it.

const FACETS = {
  tag: { label: "Tag", pick: (test) => test.tags },
  server: { label: "Server", pick: (test) => test.server },
  protocol: { label: "Protocol", pick: (test) => test.protocol },
  transport: { label: "Transport", pick: (test) => test.transport },
  rule: { label: "Broken rule", pick: (test) => test.rules },
};
for (const facet of Object.values(FACETS)) facet.values = valuesOf(facet.pick);
const VIEWS = ["tests", "overview", "latency", "variants"];
// Where the list and the main part do not fit side by side, a failed run starts with the overview.
const FIRST_VIEW = run.summary.failed > 0 ? "overview" : "tests";

let state = readState();
let matching = [];

function readState() {
  const params = new URLSearchParams(location.hash.slice(1));
  const status = (params.get("status") ?? "").split(",").filter((one) => Object.hasOwn(STATUS, one));
  const view = params.get("view");
  const read = {
    test: byId.has(params.get("test")) ? params.get("test") : null,
    view: VIEWS.includes(view) ? view : FIRST_VIEW,
    q: params.get("q") ?? "",
    status: new Set(status),
  };
  for (const [facet, { values }] of Object.entries(FACETS)) {
    read[facet] = values.some(([value]) => value === params.get(facet)) ? params.get(facet) : null;
  }
  return read;
}

function address(target) {
  const params = new URLSearchParams();
  if (target.view !== FIRST_VIEW && !target.test) params.set("view", target.view);
  if (target.q) params.set("q", target.q);
  if (target.status.size) params.set("status", [...target.status].join(","));
  for (const facet of Object.keys(FACETS)) if (target[facet]) params.set(facet, target[facet]);
  if (target.test) params.set("test", target.test);
  const text = params.toString();
  return text ? `#${text}` : "#";
}

// Changes the state. `step` adds an entry to the history; typing in the filter does not.
function navigate(change, { step = false } = {}) {
  const before = state;
  state = { ...state, ...change };
  const to = address(state);
  if (to !== address(before)) history[step ? "pushState" : "replaceState"](null, "", to);
  show(before);
}

function matches(test, words) {
  if (state.status.size && !state.status.has(test.status)) return false;
  for (const facet of Object.keys(FACETS)) {
    const wanted = state[facet];
    if (!wanted) continue;
    const has = FACETS[facet].pick(test);
    if (Array.isArray(has) ? !has.includes(wanted) : has !== wanted) return false;
  }
  return words.every((word) => wordsOf(test).includes(word));
}

// A test matches if it contains every word. Words in quotes are one phrase.
function filterTests() {
  const words = [...state.q.toLowerCase().matchAll(/"([^"]+)"?|[^\s"]+/g)];
  const wanted = words.map((match) => match[1] ?? match[0]);
  matching = tests.filter((test) => matches(test, wanted));
}

function isFiltered() {
  return Boolean(state.q || state.status.size || Object.keys(FACETS).some((facet) => state[facet]));
}
