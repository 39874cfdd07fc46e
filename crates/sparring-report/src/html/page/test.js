// The view of one test: its outcome, failures, rerun command and traffic.

function testView(test) {
  const word = STATUS[test.status].word;
  const facts = [
    ["suite", test.suite === test.place.file ? null : test.suite],
    ["location", placeText(test.place)],
    ["server", test.server],
    ["protocol", test.protocol],
    ["transport", test.transport],
    ["took", tookOf(test)],
    ["level", test.rule?.level],
  ].filter(([, value]) => value);
  return el("article", { class: "test-view" },
    el("div", { class: "test-head" },
      el("span", { class: `badge ${test.status}` }, icon(test.status), word),
      el("span", { class: "grow" }),
      stepButton("previous", "up", -1),
      stepButton("next", "down", 1),
      copyButton("Copy a link to this test", () => location.href),
      el("button", { type: "button", class: "quiet close", "aria-label": "Close", title: "Close (Esc)", onclick: closeTest }, icon("close"))),
    el("h2", { id: "title", tabindex: "-1" }, test.name),
    el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, brief(value, 300))))),
    test.tags.length > 0 && el("p", { class: "tags" }, test.tags.map((tag) =>
      el("button", { type: "button", class: "tag", title: `Only tests with the tag ${tag}`, onclick: () => navigate({ tag }) }, tag))),
    test.reason && el("p", { class: "reason" }, el("b", {}, "Reason: "), longText(test.reason, 4000)),
    triesOf(test),
    ruleOf(test),
    notesOf(test),
    transcriptOf(test),
    el("section", { class: "rerun", "aria-label": "Rerun" },
      el("h3", {}, "Rerun"),
      el("div", { class: "command" }, el("code", {}, longText(test.again, 4000)), copyButton("Copy the command", test.again))),
    otherVariants(test),
    test.frames > 0 || !test.timings.length ? null : answersOf(test),
    test.frames > 0 || hasRun(test) ? trafficOf(test) : null);
}

function stepButton(word, picture, by) {
  return el("button", { type: "button", class: "quiet", "aria-label": `The ${word} test`, title: `The ${word} test (${by > 0 ? "j" : "k"})`, onclick: () => moveActive(by) }, icon(picture));
}

function triesOf(test) {
  const tries = test.failed_tries;
  if (!tries.length) return null;
  const last = test.outcome === "failed" ? tries.at(-1) : null;
  const earlier = last ? tries.slice(0, -1) : tries;
  const title = last
    ? count(earlier.length, "earlier try", "earlier tries") + " failed too"
    : `passed on try ${tries.length + 1}; earlier failures`;
  return [
    last && el("section", { "aria-label": "Failures" }, tryBody(last)),
    earlier.length > 0 && el("section", { class: "earlier", "aria-label": "Earlier tries" },
      el("h3", {}, title),
      earlier.map((one, index) =>
        el("details", { class: "try", open: !last && earlier.length === 1 },
          el("summary", {}, el("b", {}, `Try ${index + 1}`), " ", el("span", { class: "dim" }, firstLine(one.failures[0]?.message ?? ""))),
          tryBody(one)))),
  ];
}

// Shows the rule that a test of `spar check` checks.
function ruleOf({ rule }) {
  if (!rule) return null;
  return el("section", { "aria-label": "Rule" },
    el("h3", {}, "Rule"),
    el("p", {}, longText(rule.summary)),
    rule.section && el("p", {}, el("code", {}, longText(rule.section))),
    el("p", {}, el("b", {}, "Change: "), longText(rule.advice)));
}

function notesOf(test) {
  if (!test.notes.length) return null;
  return el("section", { class: "notes", "aria-label": "Notes" },
    el("h3", {}, "Notes"),
    el("ul", {}, test.notes.map(({ place, message }) =>
      el("li", {}, longText(message), " ", el("code", {}, placeText(place))))));
}

// Shows what the agent, the model and the MCP servers said, in one time line.
function transcriptOf(test) {
  if (!test.transcript.length) return null;
  const line = ({ at_ms, mock, by, request, answer }) =>
    el("li", {},
      el("p", { class: "dim" }, `${time(at_ms)} · ${by === "model" ? "model" : "MCP server"} `, el("code", {}, brief(mock, 100))),
      el("p", { class: "asked" }, longText(request, 4000)),
      el("p", { class: "answered" }, longText(answer, 4000)));
  return el("section", { class: "transcript", "aria-label": "Transcript" },
    el("h3", {}, "Transcript"),
    test.transcript_left_out > 0 && el("p", { class: "dim" }, `${count(test.transcript_left_out, "exchange")} in the middle omitted`),
    el("ol", {}, test.transcript.map(line)));
}

function tryBody(one) {
  return [one.failures.map(failureCard), outputOf("stderr", one.stderr), outputOf("stdout", one.stdout)];
}

function failureCard({ place, source, message, diff }) {
  const indent = /^\s*/.exec(source)[0].length;
  return el("div", { class: "failure" },
    el("p", { class: "message" }, longText(message)),
    place.file && el("div", { class: "source" },
      el("p", { class: "where" }, el("code", {}, placeText(place)), copyButton("Copy the location", placeText(place))),
      el("pre", {},
        el("span", { class: "line-number" }, `${place.line} `),
        el("span", {}, source.slice(indent).slice(0, 2000)),
        "\n",
        el("span", { class: "line-number" }, `${" ".repeat(String(place.line).length)} `),
        el("span", { class: "caret" }, `${caretSpace(source, indent, place.column)}^`))),
    diff && diffView(diff));
}

// Returns the space before the caret. Columns count characters.
function caretSpace(source, indent, column) {
  const before = [...source.slice(indent)].slice(0, Math.max(0, column - 1 - indent));
  return before.map((letter) => (letter === "\t" ? "\t" : " ")).join("");
}

function diffView(diff) {
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const kinds = { "-": "expected", "+": "found", "@": "hunk" };
  const max = 400;
  const draw = (some) => some.map((line) => el("span", { class: `diff-line ${kinds[line[0]] ?? "same"}` }, longText(line || " ")));
  const text = el("pre", { class: "diff-text", tabindex: "0", "aria-label": "Difference" }, draw(lines.slice(0, max)));
  if (lines.length > max) {
    const button = el("button", { type: "button", class: "more" }, `${count(lines.length - max, "line")} more`);
    button.addEventListener("click", () => {
      button.remove();
      text.append(...draw(lines.slice(max)));
    });
    text.append(button);
  }
  return el("div", { class: "diff" },
    el("p", { class: "legend" }, el("span", { class: "diff-line expected" }, "- expected"), el("span", { class: "diff-line found" }, "+ found")),
    text);
}

function outputOf(name, text) {
  if (!text) return null;
  return el("div", { class: "output" },
    el("details", { open: text.length < 4000 },
      el("summary", {}, el("b", {}, name), " ", el("span", { class: "dim" }, "last lines")),
      el("pre", { tabindex: "0", "aria-label": name }, longText(text))),
    copyButton(`Copy ${name}`, text));
}

// Links to the other variants of a test.
function otherVariants(test) {
  const same = tests.filter((one) => one !== test && one.name === test.name && one.suite === test.suite && one.server === test.server);
  if (!same.length || same.length > 40) return null;
  return el("section", { class: "others", "aria-label": "Other variants" },
    el("h3", {}, "Other variants"),
    el("p", {}, same.map((one) =>
      el("button", { type: "button", class: `chip ${one.status}`, onclick: () => navigate({ test: one.id }, { step: true }) },
        icon(one.status, STATUS[one.status].word), one.variant || "default"))));
}

function answersOf(test) {
  return el("section", { "aria-label": "Responses" },
    el("h3", {}, "Responses"),
    el("ul", { class: "answers" }, test.timings.slice(0, 200).map(({ asked, took_ms }) =>
      el("li", {}, el("code", {}, asked), el("span", { class: "took" }, time(took_ms))))));
}

function firstLine(text) {
  const line = text.split("\n", 1)[0];
  return line.length > 240 ? `${line.slice(0, 240)}…` : line;
}

function closeTest() {
  navigate({ test: null }, { step: true });
  tree.focus();
}
