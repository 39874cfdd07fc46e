// What is looked at: it lives in the address, so that a link shows the same.

const FACETS = {
  tag: { label: "Tag", pick: (test) => test.tags },
  server: { label: "Server", pick: (test) => test.server },
  protocol: { label: "Protocol", pick: (test) => test.protocol },
  transport: { label: "Transport", pick: (test) => test.transport },
  rule: { label: "Broken rule", pick: (test) => test.rules },
};
for (const facet of Object.values(FACETS)) facet.values = valuesOf(facet.pick);
const VIEWS = ["tests", "overview", "latency", "variants"];

let state = readState();
let matching = [];

function readState() {
  const said = new URLSearchParams(location.hash.slice(1));
  const status = (said.get("status") ?? "").split(",").filter((one) => Object.hasOwn(STATUS, one));
  const view = said.get("view");
  const read = {
    test: byId.has(said.get("test")) ? said.get("test") : null,
    view: VIEWS.includes(view) ? view : "tests",
    q: said.get("q") ?? "",
    status: new Set(status),
  };
  for (const [facet, { values }] of Object.entries(FACETS)) {
    read[facet] = values.some(([value]) => value === said.get(facet)) ? said.get(facet) : null;
  }
  return read;
}

function address(of) {
  const said = new URLSearchParams();
  if (of.view !== "tests" && !of.test) said.set("view", of.view);
  if (of.q) said.set("q", of.q);
  if (of.status.size) said.set("status", [...of.status].join(","));
  for (const facet of Object.keys(FACETS)) if (of[facet]) said.set(facet, of[facet]);
  if (of.test) said.set("test", of.test);
  const text = said.toString();
  return text ? `#${text}` : "#";
}

// Changes what is looked at. What a person would want to go back from is a
// step in the history; typing is not.
function go(change, { step = false } = {}) {
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

// Each word must be found; words in quotes belong together.
function filterTests() {
  const words = [...state.q.toLowerCase().matchAll(/"([^"]+)"?|[^\s"]+/g)];
  const wanted = words.map((match) => match[1] ?? match[0]);
  matching = tests.filter((test) => matches(test, wanted));
}

function isFiltered() {
  return Boolean(state.q || state.status.size || Object.keys(FACETS).some((facet) => state[facet]));
}
