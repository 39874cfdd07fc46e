// Runs Continue's CLI with the servers of an `mcpServers` file and the model at MODEL_URL. The
// stdin is the prompt.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const { HOME, MCP_CONFIG, MODEL_URL } = process.env;
const { mcpServers } = JSON.parse(readFileSync(MCP_CONFIG, "utf8"));
const settings = {
  name: "test",
  version: "1.0.0",
  schema: "v1",
  models: [
    { name: "scripted", provider: "openai", model: "gpt-5", apiKey: "none", apiBase: `${MODEL_URL}/v1` },
  ],
  mcpServers: Object.entries(mcpServers).map(([name, { url, command, args }]) =>
    url ? { name, type: "streamable-http", url } : { name, type: "stdio", command, args },
  ),
};
writeFileSync(`${HOME}/config.yaml`, JSON.stringify(settings));

const cn = `${import.meta.dirname}/node_modules/.bin/cn`;
const env = {
  ...process.env,
  CONTINUE_CLI_ENABLE_TELEMETRY: "0",
  CONTINUE_METRICS_ENABLED: "0",
};
const args = ["--config", `${HOME}/config.yaml`, "--auto", "--print", readFileSync(0, "utf8")];
const options = { stdio: ["ignore", "inherit", "inherit"], cwd: HOME, env };
process.exit(spawnSync(cn, args, options).status ?? 1);
