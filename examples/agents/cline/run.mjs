// Runs Cline with the servers of an `mcpServers` file and the model at MODEL_URL. The stdin is
// the prompt.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const { HOME, MCP_CONFIG, MODEL_URL } = process.env;
const { mcpServers } = JSON.parse(readFileSync(MCP_CONFIG, "utf8"));
for (const server of Object.values(mcpServers)) {
  server.type = server.url ? "streamableHttp" : "stdio";
}
writeFileSync(`${HOME}/mcp.json`, JSON.stringify({ mcpServers }));
const settings = { telemetryOptOut: true, autoUpdateEnabled: false };
writeFileSync(`${HOME}/settings.json`, JSON.stringify(settings));

const env = {
  ...process.env,
  CLINE_GLOBAL_SETTINGS_PATH: `${HOME}/settings.json`,
  CLINE_MCP_SETTINGS_PATH: `${HOME}/mcp.json`,
  CLINE_NO_AUTO_UPDATE: "1",
};
const cline = (args, stdout) => {
  const program = `${import.meta.dirname}/node_modules/.bin/cline`;
  return spawnSync(program, args, { stdio: ["ignore", stdout, "inherit"], cwd: HOME, env });
};
const model = ["--provider", "openai-compatible", "--apikey", "none", "--modelid", "gpt-5"];
cline(["auth", ...model, "--baseurl", `${MODEL_URL}/v1`], "ignore");
process.exit(cline([readFileSync(0, "utf8")], "inherit").status ?? 1);
