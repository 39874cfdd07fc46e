// The latency view: the response times of each kind of request, on one scale.

const MAX_DOTS = 140;

function latencyView() {
  const asked = collectTimings();
  const view = el("article", { class: "latency" },
    el("h2", { id: "title", tabindex: "-1" }, "Latency"),
    el("p", { class: "dim" }, "Response times by request, slowest first. A dot is a response, the solid line is the median, the dashed line is p95, and the box is the interquartile range. The scale is logarithmic."));
  if (!asked.length) {
    view.append(el("p", {}, "These tests have no response times."));
    return view;
  }
  const scale = scaleOf(asked);
  const body = el("tbody", {});
  const head = el("thead", {}, el("tr", {},
    el("th", { scope: "col" }, "request"),
    el("th", { scope: "col", class: "plot" }, scaleHead(scale)),
    ["responses", "p50", "p95", "max"].map((word) => el("th", { scope: "col", class: "number" }, word))));
  view.append(el("div", { class: "wide" }, el("table", { class: "latency-table" }, head, body)));
  body.append(...firstRows(asked, scale));
  return view;
}

function firstRows(asked, scale) {
  const max = 60;
  const list = asked.slice(0, max).map((one) => latencyRow(one, scale));
  if (asked.length <= max) return list;
  const button = el("button", { type: "button", class: "more" }, `${(asked.length - max).toLocaleString("en")} more`);
  const row = el("tr", {}, el("td", { colspan: 6 }, button));
  button.addEventListener("click", () => row.replaceWith(...firstRows(asked.slice(max), scale)));
  return [...list, row];
}

function collectTimings() {
  const servers = new Set(tests.map((test) => test.server)).size;
  const found = new Map();
  for (const test of matching) {
    for (const { asked, took_ms } of test.timings) {
      const key = `${servers > 1 ? test.server : ""}\n${asked}`;
      if (!found.has(key)) found.set(key, { asked, server: servers > 1 ? test.server : null, times: [] });
      found.get(key).times.push({ ms: took_ms, test });
    }
  }
  const all = [...found.values()];
  for (const one of all) {
    one.times.sort((a, b) => a.ms - b.ms);
    one.p = (part) => one.times[Math.min(one.times.length - 1, Math.ceil(part * one.times.length) - 1)]?.ms ?? 0;
    one.max = one.times.at(-1);
  }
  return all.sort((a, b) => b.p(0.95) - a.p(0.95));
}

function scaleOf(asked) {
  const low = Math.max(0.01, Math.min(...asked.map((one) => one.times[0].ms)));
  const high = Math.max(...asked.map((one) => one.max.ms), low * 10);
  const from = Math.floor(Math.log10(low) + 1e-9);
  const to = Math.ceil(Math.log10(high) - 1e-9);
  const at = (ms) => `${(((Math.log10(Math.max(ms, 10 ** from)) - from) / (to - from)) * 88 + 6).toFixed(2)}%`;
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  return { at, ticks };
}

function scaleHead({ at, ticks }) {
  return svg("svg", { class: "scale", height: 18, width: "100%", role: "img", "aria-label": "Time scale" },
    ticks.map((ms) => svg("text", { x: at(ms), y: 13, "text-anchor": "middle" }, tickWord(ms))));
}

function tickWord(ms) {
  if (ms < 1) return `${+(ms * 1000).toPrecision(2)} µs`;
  return ms < 1000 ? `${+ms.toPrecision(2)} ms` : `${+(ms / 1000).toPrecision(2)} s`;
}

function latencyRow(one, scale) {
  const [p50, p95] = [one.p(0.5), one.p(0.95)];
  return el("tr", {},
    el("th", { scope: "row" }, el("code", {}, one.asked), one.server && el("span", { class: "dim" }, one.server)),
    el("td", { class: "plot" }, plotOf(one, scale, p50, p95)),
    el("td", { class: "number" }, one.times.length.toLocaleString("en")),
    el("td", { class: "number" }, time(p50)),
    el("td", { class: "number" }, time(p95)),
    el("td", { class: "number" }, el("button", { type: "button", class: "link", title: `Open: ${one.max.test.name}`, onclick: () => openTest(one.max.test) }, time(one.max.ms))));
}

function plotOf(one, { at, ticks }, p50, p95) {
  const words = `${one.asked}: median ${time(p50)}, p95 ${time(p95)}, max ${time(one.max.ms)}`;
  const plot = svg("svg", { class: "strip-plot", height: 30, width: "100%", role: "img", "aria-label": attributeText(words) });
  for (const ms of ticks) plot.append(svg("line", { class: "grid", x1: at(ms), x2: at(ms), y1: 0, y2: 30 }));
  const few = one.times.length < 8;
  // Draws at most MAX_DOTS dots, evenly chosen, with both ends.
  const step = Math.max(1, (one.times.length - 1) / (MAX_DOTS - 1));
  for (let place = 0; place <= one.times.length - 1 + 1e-6; place += step) {
    const index = Math.round(place);
    // A small vertical offset, the same on every draw.
    const mixed = Math.imul(index + 1, 0x9e3779b1);
    const lift = (Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 20) % 15 - 7;
    plot.append(svg("circle", { class: few ? "dot alone" : "dot", cx: at(one.times[index].ms), cy: 15 + lift, r: few ? 2.6 : 1.8 }));
  }
  if (!few) {
    const [left, right] = [parseFloat(at(one.p(0.25))), parseFloat(at(one.p(0.75)))];
    plot.append(svg("rect", { class: "box", x: `${left}%`, width: `${Math.max(0.3, right - left)}%`, y: 6, height: 18, rx: 2 }));
  }
  plot.append(svg("line", { class: "median", x1: at(p50), x2: at(p50), y1: 4, y2: 26 }));
  plot.append(svg("line", { class: "p95", x1: at(p95), x2: at(p95), y1: 6, y2: 24 }));
  return plot;
}
