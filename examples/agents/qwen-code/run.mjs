// Runs Qwen Code with the servers of an `mcpServers` file and the model at MODEL_URL. The stdin
// is the prompt.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const { HOME, MCP_CONFIG, MODEL_URL } = process.env;
const { mcpServers } = JSON.parse(readFileSync(MCP_CONFIG, "utf8"));
const settings = {
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  security: { auth: { selectedType: "openai" } },
  mcpServers: {},
};
for (const [name, { url, command, args }] of Object.entries(mcpServers)) {
  const server = url ? { httpUrl: url } : { command, args };
  // Without `alwaysLoadTools` the model must search for the tools first.
  settings.mcpServers[name] = { ...server, trust: true, alwaysLoadTools: true };
}
mkdirSync(`${HOME}/.qwen`);
writeFileSync(`${HOME}/.qwen/settings.json`, JSON.stringify(settings));

const qwen = `${import.meta.dirname}/node_modules/.bin/qwen`;
const env = {
  ...process.env,
  OPENAI_API_KEY: "none",
  OPENAI_BASE_URL: `${MODEL_URL}/v1`,
  OPENAI_MODEL: "gpt-5",
};
const args = ["--prompt", readFileSync(0, "utf8")];
const options = { stdio: ["ignore", "inherit", "inherit"], cwd: HOME, env };
process.exit(spawnSync(qwen, args, options).status ?? 1);
