// Reads the embedded run and adds the status, the id and the search text of each test.

const run = JSON.parse($("run").textContent);
const tests = run.tests;

const STATUS = {
  failed: { word: "failed", order: 0 },
  flaky: { word: "flaky", order: 1 },
  passed: { word: "passed", order: 2 },
  skipped: { word: "skipped", order: 3 },
  not_run: { word: "not run", order: 4 },
};

{
  const seen = new Map();
  tests.forEach((test, index) => {
    test.index = index;
    test.status = test.outcome === "passed" && test.failed_tries?.length ? "flaky" : test.outcome;
    test.variant = [test.protocol, test.transport].filter(Boolean).map((one) => brief(one, 60)).join(" · ");
    // The id depends only on the identity of the test, so links work for later runs too.
    const name = [test.suite, test.name, test.server, test.protocol, test.transport].join("\n");
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    test.id = digest(`${name}\n${before}`);
  });
}

const byId = new Map(tests.map((test) => [test.id, test]));

// Two FNV-1a hashes with different seeds: short, and enough to distinguish tests.
function digest(text) {
  let one = 0x811c9dc5;
  let two = 0x1b873593;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul(two ^ code, 0x01000193);
  }
  return (one >>> 0).toString(36) + ((two >>> 0) % 46656).toString(36);
}

function framesOf(test) {
  const element = $(`frames-${test.index}`);
  return element ? JSON.parse(element.textContent) : [];
}

// Returns the first failure of a failed test, or the reason of a skipped one.
function messageOf(test) {
  const last = test.failed_tries.at(-1);
  if (test.outcome === "failed") return last?.failures[0]?.message ?? "";
  return test.reason ?? "";
}

function hasRun(test) {
  return test.outcome === "passed" || test.outcome === "failed";
}

function tookOf(test) {
  return hasRun(test) ? time(test.took_ms) : "";
}

function wordsOf(test) {
  test.words ??= [
    test.suite,
    test.name,
    test.server,
    test.variant,
    test.tags.join(" "),
    test.reason,
    ...test.failed_tries.flatMap((one) => one.failures.map((failure) => failure.message)),
    ...test.rules,
  ].join("\n").toLowerCase();
  return test.words;
}

// Returns an empty text if there is no file.
function placeText(place) {
  return place.file &&  `${place.file}:${place.line}:${place.column}`;
}

// Returns all values of a facet with the number of their tests, in natural order.
function valuesOf(pick) {
  const counts = new Map();
  for (const test of tests) {
    for (const value of new Set([pick(test)].flat())) {
      if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }
  const order = new Intl.Collator("en", { numeric: true });
  return [...counts].sort((a, b) => order.compare(a[0], b[0]));
}
