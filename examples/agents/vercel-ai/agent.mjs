// An agent of Vercel's AI SDK, with the servers of an `mcpServers` file. It speaks the
// API in its argument at the URL in MODEL_URL.
import { readFileSync } from "node:fs";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createMCPClient } from "@ai-sdk/mcp";
import { StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount } from "ai";

const { MODEL_URL, MCP_CONFIG } = process.env;
const baseURL = `${MODEL_URL}/v1`;
const apiKey = "none";
const model = {
  responses: () => createOpenAI({ baseURL, apiKey })("gpt-5"),
  chat_completions: () => createOpenAI({ baseURL, apiKey }).chat("gpt-5"),
  messages: () => createAnthropic({ baseURL, apiKey })("claude-sonnet-4-5"),
  gemini: () =>
    createGoogleGenerativeAI({ baseURL: `${MODEL_URL}/v1beta`, apiKey })("gemini-2.5-pro"),
}[process.argv[2]]();

const servers = Object.values(JSON.parse(readFileSync(MCP_CONFIG, "utf8")).mcpServers);
const clients = await Promise.all(
  servers.map(({ url, command, args }) =>
    createMCPClient({
      transport: url
        ? { type: "http", url }
        : new StdioMCPTransport({ command, args }),
    }),
  ),
);
try {
  const tools = Object.assign({}, ...(await Promise.all(clients.map((client) => client.tools()))));
  const prompt = readFileSync(0, "utf8");
  const { text } = await generateText({ model, tools, prompt, stopWhen: isStepCount(5) });
  console.log(text);
} finally {
  await Promise.all(clients.map((client) => client.close()));
}
