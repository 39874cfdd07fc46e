// A small server made with FastMCP for TypeScript.

import { FastMCP, UserError } from "fastmcp";
import { z } from "zod";

const server = new FastMCP({ name: "notes", version: "1.0.0" });
const annotations = { readOnlyHint: true };

server.addTool({
  name: "add",
  description: "Adds two integers.",
  annotations,
  parameters: z.object({ a: z.number().int().describe("The first."), b: z.number().int().describe("The second.") }),
  execute: async ({ a, b }) => `${a + b}`,
});

server.addTool({
  name: "fail",
  description: "Always fails.",
  annotations,
  execute: async () => {
    throw new UserError("it failed");
  },
});

server.addResource({
  uri: "notes://today",
  name: "today",
  description: "The note of today.",
  mimeType: "text/plain",
  load: async () => ({ text: "water the plants" }),
});

server.addPrompt({
  name: "greet",
  description: "Says hello.",
  arguments: [{ name: "tone", description: "The tone.", required: true }],
  load: async ({ tone }) => `Say hello in a ${tone} tone.`,
});

await server.start({ transportType: "stdio" });
