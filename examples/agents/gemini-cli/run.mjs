// Runs Gemini CLI with the servers of an `mcpServers` file and the model at MODEL_URL. The stdin
// is the prompt.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const { HOME, MCP_CONFIG, MODEL_URL } = process.env;
const { mcpServers } = JSON.parse(readFileSync(MCP_CONFIG, "utf8"));
const settings = {
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
  security: { auth: { selectedType: "gemini-api-key" } },
  mcpServers: {},
};
for (const [name, { url, command, args }] of Object.entries(mcpServers)) {
  const server = url ? { httpUrl: url } : { command, args };
  settings.mcpServers[name] = { ...server, trust: true };
}
mkdirSync(`${HOME}/.gemini`);
writeFileSync(`${HOME}/.gemini/settings.json`, JSON.stringify(settings));

const gemini = `${import.meta.dirname}/node_modules/.bin/gemini`;
const env = {
  ...process.env,
  GEMINI_API_KEY: "none",
  GEMINI_CLI_TRUST_WORKSPACE: "true",
  GOOGLE_GEMINI_BASE_URL: MODEL_URL,
};
const args = ["--model", "gemini-2.5-pro", "--prompt", readFileSync(0, "utf8")];
const options = { stdio: ["ignore", "inherit", "inherit"], cwd: HOME, env };
process.exit(spawnSync(gemini, args, options).status ?? 1);
