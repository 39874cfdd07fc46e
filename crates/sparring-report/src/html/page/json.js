// Shows JSON with its original spelling, line breaks and colours. It is read token by token,
// so malformed JSON is shown too, numbers are not rounded, and duplicate keys are kept.

const MAX_TOKENS_AT_ONCE = 4000;
const MAX_CHARS_AT_ONCE = 3000;

function looksLikeJson(text) {
  return /^\s*[[{]/.test(text);
}

// `marks` are the paths of values with a violation.
function prettyJson(text, marks) {
  const out = document.createDocumentFragment();
  const more = el("button", { type: "button", class: "more" });
  const writer = jsonWriter(tokensOf(text), marks);
  const goOn = () => {
    const { part, left } = writer(MAX_TOKENS_AT_ONCE);
    if (more.isConnected) more.before(part);
    else out.append(part);
    if (!left) more.remove();
    else more.textContent = "show more";
  };
  more.addEventListener("click", goOn);
  out.append(more);
  goOn();
  if (more.textContent) out.append(more);
  else more.remove();
  return out;
}

function* tokensOf(text) {
  const word = /[^\s"{}[\],:]+/y;
  let at = 0;
  while (at < text.length) {
    const letter = text[at];
    if (/\s/.test(letter)) {
      at += 1;
    } else if (letter === '"') {
      const end = stringEnd(text, at);
      yield text.slice(at, end);
      at = end;
    } else if ("{}[],:".includes(letter)) {
      yield letter;
      at += 1;
    } else {
      word.lastIndex = at;
      const found = word.exec(text)[0];
      yield found;
      at += found.length;
    }
  }
}

function stringEnd(text, start) {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
}

function jsonWriter(tokens, marks) {
  const stack = [];
  let queued = tokens.next();
  let pending = "";
  let part;
  let line;
  const flush = () => {
    if (pending) line.append(pending);
    pending = "";
  };
  const span = (kind, text, path) => {
    flush();
    line.append(jsonToken(kind, text, marks.has(path)));
  };
  // Wrapped lines are indented further.
  const startLine = () => {
    const depth = Math.min(stack.length, 40);
    line = el("span", { class: "json-line" });
    line.style.paddingLeft = `${depth * 2 + 3}ch`;
    line.style.textIndent = `-${depth * 2 + 3}ch`;
    part.append(line);
    pending = "  ".repeat(depth);
  };
  const newline = () => {
    pending += "\n";
    flush();
    startLine();
  };
  const write = (token, next) => {
    const inside = stack.at(-1);
    if (token === "{" || token === "[") {
      const path = valuePath(inside);
      if (marks.has(path)) span("punct", token, path);
      else pending += token;
      const end = token === "{" ? "}" : "]";
      stack.push({ array: token === "[", index: 0, key: null, awaitsKey: token === "{", path, empty: next === end });
      if (next !== end) newline();
    } else if (token === "}" || token === "]") {
      const closed = stack.pop();
      if (closed && !closed.empty) newline();
      pending += token;
    } else if (token === ",") {
      pending += ",";
      if (inside) {
        inside.index += 1;
        inside.awaitsKey = !inside.array;
      }
      newline();
    } else if (token === ":") {
      pending += ": ";
    } else if (inside?.awaitsKey && token[0] === '"') {
      inside.awaitsKey = false;
      inside.key = keyName(token);
      span("key", token, valuePath(inside));
    } else {
      span(kindOf(token), token, valuePath(inside));
    }
  };
  return (budget) => {
    part = document.createDocumentFragment();
    if (!line) startLine();
    while (!queued.done && budget > 0) {
      const token = queued.value;
      queued = tokens.next();
      write(token, queued.value);
      budget -= 1;
    }
    flush();
    return { part, left: !queued.done };
  };
}

function jsonToken(kind, text, marked) {
  const attributes = { class: marked ? `json-${kind} marked` : `json-${kind}` };
  return el("span", attributes, longText(text, MAX_CHARS_AT_ONCE));
}

function kindOf(token) {
  if (token[0] === '"') return "string";
  if (/^-?\d/.test(token)) return "number";
  return /^(true|false|null)$/.test(token) ? "word" : "wrong";
}

function keyName(token) {
  try {
    return JSON.parse(token);
  } catch {
    return token;
  }
}

function valuePath(inside) {
  if (!inside) return "$";
  return inside.path + pathStep(inside.array ? inside.index : inside.key);
}

// Returns a segment of a path in the notation of violations: `$.result.tools[0]["x-y"]`.
function pathStep(step) {
  if (typeof step === "number") return `[${step}]`;
  if (/^[A-Za-z_$][A-Za-z0-9_$]*$/.test(step ?? "")) return `.${step}`;
  return `[${JSON.stringify(step)}]`;
}

// Returns the longest prefix of a path that exists in a value: a missing value cannot be
// marked.
function nearestPath(value, path) {
  let here = "$";
  let rest = path.slice(1);
  while (rest) {
    const match = /^(?:\.([A-Za-z_$][A-Za-z0-9_$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\])/.exec(rest);
    if (!match || value === null || typeof value !== "object") return here;
    const step = match[1] ?? (match[2] !== undefined ? Number(match[2]) : keyName(match[3]));
    if (!Object.hasOwn(value, step)) return here;
    value = value[step];
    here += pathStep(step);
    rest = rest.slice(match[0].length);
  }
  return here;
}
