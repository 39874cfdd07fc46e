// Runs Codex with the servers of an `mcpServers` file and the model at MODEL_URL. The stdin is
// the prompt.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const { HOME, MCP_CONFIG, MODEL_URL } = process.env;
const { mcpServers } = JSON.parse(readFileSync(MCP_CONFIG, "utf8"));
const settings = {
  model: "gpt-5",
  model_provider: "scripted",
  model_providers: {
    scripted: { name: "scripted", base_url: `${MODEL_URL}/v1`, wire_api: "responses" },
  },
  check_for_update_on_startup: false,
  analytics: { enabled: false },
  mcp_servers: {},
};
for (const [name, { url, command, args }] of Object.entries(mcpServers)) {
  settings.mcp_servers[name] = url ? { url } : { command, args };
}

// Turns settings into flags; strings, lists and booleans are the same in JSON and TOML.
const flags = (settings, path = "") =>
  Object.entries(settings).flatMap(([key, value]) =>
    value.constructor === Object
      ? flags(value, `${path}${key}.`)
      : ["-c", `${path}${key}=${JSON.stringify(value)}`],
  );
const codex = `${import.meta.dirname}/node_modules/.bin/codex`;
const args = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
const options = { stdio: "inherit", cwd: HOME, env: { ...process.env, CODEX_HOME: HOME } };
process.exit(spawnSync(codex, [...args, ...flags(settings), "-"], options).status ?? 1);
