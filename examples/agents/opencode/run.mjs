// Runs opencode with the servers of an `mcpServers` file and the model at MODEL_URL. The stdin
// is the prompt.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const { HOME, MCP_CONFIG, MODEL_URL } = process.env;
const { mcpServers } = JSON.parse(readFileSync(MCP_CONFIG, "utf8"));
const settings = {
  autoupdate: false,
  share: "disabled",
  model: "scripted/gpt-5",
  provider: {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: `${MODEL_URL}/v1`, apiKey: "none" },
      models: { "gpt-5": {} },
    },
  },
  mcp: {},
};
for (const [name, { url, command, args }] of Object.entries(mcpServers)) {
  settings.mcp[name] = url
    ? { type: "remote", url }
    : { type: "local", command: [command, ...args] };
}
// The start script of the package needs the install script, which npm may not run.
const { arch, platform } = process;
const opencode = `${import.meta.dirname}/node_modules/opencode-${platform}-${arch}/bin/opencode`;
const env = {
  ...process.env,
  OPENCODE_CONFIG_CONTENT: JSON.stringify(settings),
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
};
const options = { stdio: ["ignore", "inherit", "inherit"], cwd: HOME, env };
process.exit(spawnSync(opencode, ["run", readFileSync(0, "utf8")], options).status ?? 1);
