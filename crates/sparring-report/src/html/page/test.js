// One test: what came of it, why, how to run it again, and its traffic.

function testView(test) {
  const word = STATUS[test.status].word;
  const facts = [
    ["suite", test.suite === test.place.file ? null : test.suite],
    ["place", placeText(test.place)],
    ["server", test.server],
    ["protocol", test.protocol],
    ["transport", test.transport],
    ["took", tookOf(test)],
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
      el("button", { type: "button", class: "tag", title: `Only tests with the tag ${tag}`, onclick: () => go({ tag }) }, tag))),
    test.reason && el("p", { class: "reason" }, el("b", {}, "Why: "), longText(test.reason, 4000)),
    triesOf(test),
    el("section", { class: "again", "aria-label": "Run it again" },
      el("h3", {}, "Run it again"),
      el("div", { class: "command" }, el("code", {}, longText(test.again, 4000)), copyButton("Copy the command", test.again))),
    otherVariants(test),
    test.frames > 0 || !test.timings.length ? null : answersOf(test),
    test.frames > 0 || hasRun(test) ? trafficOf(test) : null);
}

function stepButton(word, picture, by) {
  return el("button", { type: "button", class: "quiet", "aria-label": `The ${word} test`, title: `The ${word} test (${by > 0 ? "j" : "k"})`, onclick: () => walk(by) }, icon(picture));
}

function triesOf(test) {
  const tries = test.failed_tries;
  if (!tries.length) return null;
  const last = test.outcome === "failed" ? tries.at(-1) : null;
  const earlier = last ? tries.slice(0, -1) : tries;
  const told = last
    ? count(earlier.length, "earlier try", "earlier tries") + " failed too"
    : `passed at try ${tries.length + 1}; what failed before`;
  return [
    last && el("section", { "aria-label": "What failed" }, tryBody(last)),
    earlier.length > 0 && el("section", { class: "earlier", "aria-label": "Earlier tries" },
      el("h3", {}, told),
      earlier.map((one, index) =>
        el("details", { class: "try", open: !last && earlier.length === 1 },
          el("summary", {}, el("b", {}, `Try ${index + 1}`), " ", el("span", { class: "dim" }, firstLine(one.failures[0]?.message ?? ""))),
          tryBody(one)))),
  ];
}

function tryBody(one) {
  return [one.failures.map(failureCard), outputOf("stderr", one.stderr), outputOf("stdout", one.stdout)];
}

function failureCard({ place, source, message, diff }) {
  const indent = /^\s*/.exec(source)[0].length;
  return el("div", { class: "failure" },
    el("p", { class: "message" }, longText(message)),
    el("div", { class: "source" },
      el("p", { class: "where" }, el("code", {}, placeText(place)), copyButton("Copy the place", placeText(place))),
      el("pre", {},
        el("span", { class: "line-number" }, `${place.line} `),
        el("span", {}, source.slice(indent).slice(0, 2000)),
        "\n",
        el("span", { class: "line-number" }, `${" ".repeat(String(place.line).length)} `),
        el("span", { class: "caret" }, `${caretSpace(source, indent, place.column)}^`))),
    diff && diffView(diff));
}

// Columns count characters; the caret stands below the one that is meant.
function caretSpace(source, indent, column) {
  const before = [...source.slice(indent)].slice(0, Math.max(0, column - 1 - indent));
  return before.map((letter) => (letter === "\t" ? "\t" : " ")).join("");
}

function diffView(diff) {
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const kinds = { "-": "expected", "+": "found", "@": "hunk" };
  const most = 400;
  const draw = (some) => some.map((line) => el("span", { class: `diff-line ${kinds[line[0]] ?? "same"}` }, longText(line || " ")));
  const text = el("pre", { class: "diff-text", tabindex: "0", "aria-label": "Difference" }, draw(lines.slice(0, most)));
  if (lines.length > most) {
    const button = el("button", { type: "button", class: "more" }, `${count(lines.length - most, "line")} more`);
    button.addEventListener("click", () => {
      button.remove();
      text.append(...draw(lines.slice(most)));
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
      el("summary", {}, el("b", {}, name), " ", el("span", { class: "dim" }, "the end of it")),
      el("pre", { tabindex: "0", "aria-label": name }, longText(text))),
    copyButton(`Copy ${name}`, text));
}

// The same test in other revisions and over other transports.
function otherVariants(test) {
  const same = tests.filter((one) => one !== test && one.name === test.name && one.suite === test.suite && one.server === test.server);
  if (!same.length || same.length > 40) return null;
  return el("section", { class: "others", "aria-label": "The same test elsewhere" },
    el("h3", {}, "The same test elsewhere"),
    el("p", {}, same.map((one) =>
      el("button", { type: "button", class: `chip ${one.status}`, onclick: () => go({ test: one.id }, { step: true }) },
        icon(one.status, STATUS[one.status].word), one.variant || "as planned"))));
}

function answersOf(test) {
  return el("section", { "aria-label": "Answers" },
    el("h3", {}, "Answers"),
    el("ul", { class: "answers" }, test.timings.slice(0, 200).map(({ asked, took_ms }) =>
      el("li", {}, el("code", {}, asked), el("span", { class: "took" }, time(took_ms))))));
}

function firstLine(text) {
  const line = text.split("\n", 1)[0];
  return line.length > 240 ? `${line.slice(0, 240)}…` : line;
}

function closeTest() {
  go({ test: null }, { step: true });
  tree.focus();
}
