// The overview: failures with their reasons, flaky tests, broken rules, and slow tests.

const MAX_SHOWN_AT_ONCE = 30;

function overviewView() {
  const some = matching;
  const failed = some.filter((test) => test.status === "failed");
  const flaky = some.filter((test) => test.status === "flaky");
  const skipped = some.filter((test) => test.status === "skipped");
  return el("article", { class: "overview" },
    el("h2", { id: "title", tabindex: "-1", class: "off-screen" }, "Overview"),
    verdictCard(some),
    failed.length > 0 && card("Failures", groups(failed, (test) => firstLine(messageOf(test)))),
    flaky.length > 0 && card("Flaky", el("ul", { class: "lines" }, firstOf(flaky, (test) =>
      testLine(test, `try ${test.failed_tries.length + 1}`, firstLine(test.failed_tries[0].failures[0]?.message ?? ""))))),
    rulesCard(some),
    slowestCard(some),
    skipped.length > 0 && card("Skipped", groups(skipped, (test) => test.reason ?? "no reason given")));
}

function card(title, ...children) {
  return el("section", { class: "card", "aria-label": title }, el("h3", {}, title), children);
}

function verdictCard(some) {
  const counts = Object.keys(STATUS).map((status) => [status, some.filter((test) => test.status === status).length]);
  const failed = counts[0][1];
  const title = failed
    ? `${failed.toLocaleString("en")} of ${count(some.length, "test")} failed`
    : some.length ? `${count(some.length, "test")}, none failed` : "no test matches the filter";
  const strip = el("div", { class: "strip", "aria-hidden": "true" });
  for (const [status, number] of counts) {
    if (!number) continue;
    const piece = el("span", { class: status });
    piece.style.flexGrow = number;
    strip.append(piece);
  }
  return el("section", { class: "verdict", "aria-label": "Summary" },
    el("p", { class: `big ${failed ? "failed" : "passed"}` }, icon(failed ? "failed" : "passed"), title),
    strip,
    el("ul", { class: "legend-list" }, counts.filter(([, number]) => number).map(([status, number]) =>
      el("li", { class: status }, icon(status), el("b", {}, number.toLocaleString("en")), STATUS[status].word))));
}

// Groups tests by a key, the largest group first.
function groups(some, keyOf) {
  const found = new Map();
  for (const test of some) {
    const key = keyOf(test);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(test);
  }
  const sorted = [...found].sort((a, b) => b[1].length - a[1].length);
  return el("ul", { class: "groups" }, firstOf(sorted, ([key, its]) =>
    el("li", { class: `group ${its[0].status}` },
      el("p", { class: "cause" }, key || "no message", its.length > 1 && el("span", { class: "times" }, count(its.length, "test"))),
      el("ul", { class: "lines" }, firstOf(its, (test) => testLine(test, tookOf(test)), 4)))));
}

function testLine(test, aside, below) {
  return el("li", {},
    el("button", { type: "button", class: "test-line", onclick: () => openTest(test) },
      icon(test.status, STATUS[test.status].word),
      el("span", { class: "name" }, test.name),
      el("span", { class: "variant" }, [fileName(test.suite), test.variant].filter(Boolean).join(" · ")),
      el("span", { class: "took" }, aside)),
    below && el("p", { class: "below dim" }, below));
}

function openTest(test) {
  navigate({ test: test.id }, { step: true });
  $("title").focus();
}

function fileName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

// Draws the first items, with a button for the rest.
function firstOf(all, draw, max = MAX_SHOWN_AT_ONCE) {
  const list = all.slice(0, max).map(draw);
  if (all.length <= max) return list;
  const rest = all.slice(max);
  const button = el("button", { type: "button", class: "more" }, `${rest.length.toLocaleString("en")} more`);
  const item = el("li", { class: "more-item" }, button);
  button.addEventListener("click", () => item.replaceWith(...firstOf(rest, draw, max * 10).flat()));
  return [...list, item];
}

function rulesCard(some) {
  const rules = new Map();
  for (const test of some) {
    for (const rule of new Set(test.rules)) rules.set(rule, (rules.get(rule) ?? 0) + 1);
  }
  if (!rules.size) return null;
  const sorted = [...rules].sort((a, b) => b[1] - a[1]);
  return card("Broken protocol rules",
    el("p", { class: "dim" }, "Includes violations that a test expects."),
    el("ul", { class: "lines" }, firstOf(sorted, ([rule, number]) =>
      el("li", {}, el("button", { type: "button", class: "test-line", onclick: () => navigate({ rule }, { step: true }) },
        icon("violation"), el("span", { class: "name" }, rule), el("span", { class: "took" }, `in ${count(number, "test")}`))))));
}

function slowestCard(some) {
  const slow = some.filter((test) => test.took_ms > 0).sort((a, b) => b.took_ms - a.took_ms).slice(0, 8);
  if (slow.length < 2) return null;
  const max = slow[0].took_ms;
  return card("Slowest", el("ul", { class: "lines slowest" }, slow.map((test) => {
    const line = testLine(test, tookOf(test));
    const bar = el("span", { class: "slow-bar", "aria-hidden": "true" });
    bar.style.width = `${(test.took_ms / max) * 100}%`;
    line.firstChild.append(bar);
    return line;
  })));
}
