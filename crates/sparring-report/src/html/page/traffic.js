// The timeline of a test's traffic: requests with their responses, and other frames.

function trafficOf(test) {
  const frames = framesOf(test).map(readFrame);
  const section = el("section", { class: "traffic", "aria-label": "Traffic" });
  const bytes = frames.reduce((sum, frame) => sum + frame.bytes, 0);
  const all = frames.length + test.frames_left_out;
  section.append(
    el("div", { class: "section-head" },
      el("h3", {}, "Traffic"),
      frames.length > 0 && el("span", { class: "dim" }, `${count(all, "frame")}, ${size(bytes)}`),
      frames.length > 0 && el("button", { type: "button", class: "quiet open-all" }, "Open all")),
  );
  if (!frames.length) {
    const lost = test.frames_left_out;
    section.append(el("p", { class: "dim" }, lost ? `${count(lost, "frame")}, all omitted.` : "No frame was recorded in this test."));
    return section;
  }
  if (test.frames_shared) {
    section.append(el("p", { class: "dim shared" }, "Includes frames of other tests that ran on this server at the same time."));
  }
  const exchanges = pair(frames);
  // If frames are omitted, the other half of an exchange may be among them.
  if (test.frames_left_out) for (const one of exchanges) one.halved = true;
  const end = frames.reduce((max, frame) => Math.max(max, frame.at_ms), 0.001);
  const list = el("div", { class: "timeline" }, axis(end));
  if (test.frames_left_out) {
    const middle = exchanges.findIndex((one) => one.first.place >= Math.ceil(frames.length / 2));
    exchanges.splice(middle < 0 ? exchanges.length : middle, 0, { leftOut: test.frames_left_out });
  }
  // In a failed test, the first exchanges with a problem are open.
  let toOpen = test.outcome === "failed" ? 6 : 0;
  drawSome(list, exchanges, (exchange) => {
    if (exchange.leftOut) {
      return el("p", { class: "gap" }, `${count(exchange.leftOut, "frame")} omitted`);
    }
    const row = exchangeRow(exchange, end);
    if (toOpen > 0 && isTrouble(exchange)) {
      row.open = true;
      toOpen -= 1;
    }
    return row;
  });
  section.append(list);
  const button = section.querySelector(".open-all");
  button.addEventListener("click", () => {
    const opening = button.textContent === "Open all";
    for (const row of list.querySelectorAll(":scope > details")) row.open = opening;
    button.textContent = opening ? "Close all" : "Open all";
  });
  return section;
}

function readFrame(frame, place) {
  let value;
  try {
    value = JSON.parse(frame.text);
  } catch {
    return { ...frame, place, kind: "noise" };
  }
  const kind = Array.isArray(value) ? "batch" : kindOfFrame(value);
  return { ...frame, place, value, kind };
}

function kindOfFrame(value) {
  if (value === null || typeof value !== "object") return "noise";
  if (typeof value.method === "string") return Object.hasOwn(value, "id") ? "request" : "notification";
  return Object.hasOwn(value, "result") || Object.hasOwn(value, "error") ? "response" : "noise";
}

// Assigns each response to the latest request of the other side with the same id.
function pair(frames) {
  const waiting = new Map();
  const exchanges = [];
  for (const frame of frames) {
    const other = frame.from === "client" ? "server" : "client";
    if (frame.kind === "response") {
      const key = `${other} ${JSON.stringify(frame.value.id)}`;
      const asked = waiting.get(key)?.pop();
      if (asked) {
        asked.answer = frame;
        continue;
      }
    }
    const exchange = { first: frame, answer: null };
    exchanges.push(exchange);
    if (frame.kind === "request") {
      const key = `${frame.from} ${JSON.stringify(frame.value.id)}`;
      if (!waiting.has(key)) waiting.set(key, []);
      waiting.get(key).push(exchange);
    }
  }
  return exchanges;
}

function axis(end) {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const tick = el("span", {}, time(end * part).replace("0 µs", "0"));
    tick.style.left = `${part * 100}%`;
    return tick;
  });
  return el("div", { class: "axis", "aria-hidden": "true" }, el("div", { class: "axis-line" }, ticks));
}

// Draws a long list in parts.
function drawSome(list, all, draw, max = 300) {
  list.append(...all.slice(0, max).map(draw));
  if (all.length <= max) return;
  const rest = all.slice(max);
  const button = el("button", { type: "button", class: "more" }, `${rest.length.toLocaleString("en")} more`);
  button.addEventListener("click", () => {
    button.remove();
    drawSome(list, rest, draw, max);
  });
  list.append(button);
}

function isTrouble({ first, answer, halved }) {
  const broken = first.violations?.length || answer?.violations?.length;
  return broken || first.kind === "noise" || (first.kind === "request" && !answer && !halved);
}

function exchangeRow(exchange, end) {
  const { first, answer } = exchange;
  const both = [first, answer].filter(Boolean);
  const broken = both.flatMap((frame) => frame.violations ?? []);
  const error = answer?.value?.error;
  const row = el("details", { class: `exchange ${first.from}${broken.length ? " broken" : ""}` });
  const statuses = both.map((frame) => frame.status).filter(Boolean);
  row.append(
    el("summary", {},
      el("span", { class: "at" }, `+${time(first.at_ms)}`),
      el("span", { class: "way", title: wayWords(first) }, icon(first.from === "client" ? "right" : "left", wayWords(first))),
      el("span", { class: "what" }, el("b", {}, whatOf(first)), subjectOf(first),
        isToolError(answer) && el("span", { class: "label bad" }, "isError"),
        error && el("span", { class: "label bad" }, `error ${error.code ?? ""}`),
        labelOf(exchange),
        statuses.map((status) => el("span", { class: `label http${status >= 400 ? " bad" : ""}` }, `HTTP ${status}`)),
        broken.length > 0 && el("span", { class: "label broken-label" }, icon("violation"), count(broken.length, "violation"))),
      bar(first, answer, end),
      el("span", { class: "took" }, answer ? time(answer.at_ms - first.at_ms) : ""),
      el("span", { class: "bytes" }, both.map((frame) => size(frame.bytes)).join(" / "))),
  );
  const fill = () => {
    if (row.open && row.childElementCount === 1) {
      row.append(el("div", { class: `frames frames-${both.length}` }, both.map(framePanel)));
    }
  };
  row.addEventListener("toggle", fill);
  return row;
}

function whatOf(frame) {
  if (frame.kind === "batch") return `batch of ${frame.value.length}`;
  if (frame.kind === "response") return frame.value.error ? "error" : "result";
  if (frame.kind === "noise") return "not a frame";
  return frame.value.method;
}

function subjectOf(frame) {
  const params = frame.value?.params;
  const name = params?.name ?? params?.uri ?? params?.ref?.name ?? params?.protocolVersion;
  if (typeof name === "string") return el("span", { class: "subject" }, name.slice(0, 200));
  if (frame.kind === "noise") return el("span", { class: "subject" }, frame.text.slice(0, 120));
  return null;
}

function labelOf({ first, answer, halved }) {
  if (first.kind === "notification") return el("span", { class: "label" }, "notification");
  const alone = { response: ["no request", "request omitted"], request: ["no response", "response omitted"] };
  if (answer || !Object.hasOwn(alone, first.kind)) return null;
  const [word, spared] = alone[first.kind];
  return halved ? el("span", { class: "label" }, spared) : el("span", { class: "label warn" }, word);
}

function isToolError(answer) {
  return answer?.value?.result?.isError === true;
}

function wayWords(frame) {
  return frame.from === "client" ? "client to server" : "server to client";
}

function bar(first, answer, end) {
  const line = el("span", { class: `bar${answer ? "" : " point"}` });
  line.style.left = `${(first.at_ms / end) * 100}%`;
  if (answer) line.style.width = `${((answer.at_ms - first.at_ms) / end) * 100}%`;
  return el("span", { class: "lane", "aria-hidden": "true" }, line);
}

function framePanel(frame) {
  const violations = frame.violations ?? [];
  const text = el("pre", { class: "frame-text", tabindex: "0", "aria-label": `Text of the ${frame.kind}` });
  const isJson = looksLikeJson(frame.text);
  const marks = new Set(violations.map((one) => nearestPath(frame.value, one.path)));
  const show = (raw) => {
    text.classList.toggle("raw", raw);
    text.replaceChildren(raw ? longText(frame.text) : prettyJson(frame.text, marks));
    for (const button of choice.children) button.setAttribute("aria-pressed", String((button.dataset.form === "raw") === raw));
  };
  const choice = el("span", { class: "choice", role: "group", "aria-label": "Form" },
    isJson && el("button", { type: "button", "data-form": "pretty", onclick: () => show(false) }, "Pretty"),
    isJson && el("button", { type: "button", "data-form": "raw", onclick: () => show(true) }, "Raw"));
  show(!isJson);
  const shownBytes = new TextEncoder().encode(frame.text).length;
  return el("article", { class: `frame ${frame.from}` },
    el("header", {},
      el("span", { class: "who" }, el("b", {}, frame.from), icon("right"), frame.from === "client" ? "server" : "client"),
      el("span", { class: "dim" }, `+${time(frame.at_ms)} · ${size(frame.bytes)}${frame.status ? ` · HTTP ${frame.status}` : ""}`),
      choice,
      copyButton("Copy the frame", frame.text)),
    violations.map(violationBox),
    text,
    shownBytes < frame.bytes && el("p", { class: "dim cut" }, `truncated: ${size(shownBytes)} of ${size(frame.bytes)}`));
}

function violationBox({ rule, path, message, section }) {
  return el("div", { class: "violation" }, icon("violation", "violation"),
    el("div", {},
      el("p", {}, el("b", {}, rule), " at ", el("code", {}, path)),
      el("p", {}, longText(message, 4000)),
      section && el("p", { class: "dim" }, `specification: ${section}`)));
}
