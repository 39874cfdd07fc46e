// Creates elements, icons and formatted values. All texts pass through `textNode`, so they are
// never markup.

const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

// Characters that are invisible or change the text direction: the same as in all other
// reports.
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;
const HIDDEN_ALL = new RegExp(HIDDEN.source, "gu");

function textNode(text) {
  text = text.replaceAll("\r\n", "\n");
  if (!HIDDEN.test(text)) return document.createTextNode(text);
  const all = document.createDocumentFragment();
  let from = 0;
  for (const match of text.matchAll(HIDDEN_ALL)) {
    all.append(text.slice(from, match.index));
    const number = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    const mark = document.createElement("span");
    mark.className = "hidden-letter";
    mark.textContent = `U+${number}`;
    all.append(mark);
    from = match.index + match[0].length;
  }
  all.append(text.slice(from));
  return all;
}

// Replaces invisible characters in attributes, which cannot contain elements.
function attributeText(text) {
  return brief(text).replace(HIDDEN_ALL, "\u00b7");
}

// Truncates names and other short texts; `longText` shows texts of any length.
function brief(text, max = 1000) {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

// Shows the start of a text, with a button for the rest.
function longText(text, max = 20000) {
  if (text.length <= max) return textNode(text);
  const all = document.createDocumentFragment();
  const rest = text.slice(max);
  const button = el("button", { type: "button", class: "more" }, `${rest.length.toLocaleString("en")} more characters`);
  button.addEventListener("click", () => button.replaceWith(textNode(rest)));
  all.append(textNode(text.slice(0, max)), button);
  return all;
}

function put(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "object" ? child : textNode(brief(String(child))));
  }
  return element;
}

function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : attributeText(String(value)));
  }
  return put(element, children);
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return put(element, children);
}

function icon(name, label) {
  const use = svg("use", { href: `#icon-${name}` });
  const attributes = label
    ? { role: "img", "aria-label": label }
    : { "aria-hidden": "true" };
  return svg("svg", { class: `icon icon-${name}`, viewBox: "0 0 16 16", ...attributes }, use);
}

function count(number, one, many) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : (many ?? `${one}s`)}`;
}

function time(ms) {
  if (ms < 0.1) return `${Math.max(0, Math.round(ms * 1000))} µs`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
}

function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function copyButton(label, text) {
  const button = el("button", { class: "copy", type: "button", "aria-label": label, title: label }, icon("copy"));
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    const done = await copy(typeof text === "function" ? text() : text);
    button.replaceChildren(icon(done ? "passed" : "failed"));
    announce(done ? "copied" : "copying failed");
    setTimeout(() => button.replaceChildren(icon("copy")), 1500);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without the clipboard API, copy from a selected text area.
    const area = el("textarea", { class: "off-screen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

// Announces a text to screen readers.
function announce(text) {
  $("status-message").textContent = text;
}
