// Parses TAP from stdin with `tap-parser`, whose file is the first argument, and prints the
// result as JSON.
const { Parser } = require(process.argv[2]);

const points = [];
const unknown = [];
const parser = new Parser({ strict: true }, (results) => {
  const { ok, count, pass, fail, skip, bailout } = results;
  const final = { ok, count, pass, fail, skip, bailout };
  process.stdout.write(JSON.stringify({ points, unknown, final }));
});
parser.on("assert", ({ ok, id, name, skip, diag }) => points.push({ ok, id, name, skip, diag }));
parser.on("extra", (line) => unknown.push(line));
process.stdin.pipe(parser);
