#!/usr/bin/env node
// The child of lead.mjs: counts words, hands the result to its parent with the tool `complete`, and ends with its turn.
import { createInterface } from "node:readline";

function write(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === "prompt") {
    const words = message.text
      .slice(message.text.lastIndexOf(":") + 1)
      .trim()
      .split(/\s+/);
    write({ type: "call", call: message.id, tool: "complete", args: { result: `${words.length} words` } });
  }
  if (message.type === "result") write({ type: "done", response: "" });
}
