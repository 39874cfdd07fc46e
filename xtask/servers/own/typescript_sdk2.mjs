// A small server made with the second version of the official TypeScript SDK.

import { McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  const annotations = { readOnlyHint: true };

  server.registerTool(
    "add",
    {
      description: "Adds two integers.",
      annotations,
      inputSchema: z.object({ a: z.number().int().describe("The first."), b: z.number().int().describe("The second.") }),
      outputSchema: z.object({ sum: z.number() }),
    },
    async ({ a, b }) => ({
      content: [{ type: "text", text: `${a + b}` }],
      structuredContent: { sum: a + b },
    }),
  );

  server.registerTool("fail", { description: "Always fails.", annotations }, async () => {
    throw new Error("it failed");
  });

  server.registerResource(
    "today",
    "notes://today",
    { description: "The note of today.", mimeType: "text/plain" },
    async (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: "water the plants" }] }),
  );

  server.registerResource(
    "day",
    new ResourceTemplate("notes://day/{day}", { list: undefined }),
    { description: "The note of a day.", mimeType: "text/plain" },
    async (uri, { day }) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: `nothing on ${day}` }] }),
  );

  server.registerPrompt(
    "greet",
    { description: "Says hello.", argsSchema: z.object({ tone: z.string().describe("The tone.") }) },
    ({ tone }) => ({
      messages: [{ role: "user", content: { type: "text", text: `Say hello in a ${tone} tone.` } }],
    }),
  );
  return server;
});
