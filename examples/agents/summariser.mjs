#!/usr/bin/env node
// A scripted agent: a program that reads and writes one JSON object per line (docs/AGENTS.md, "The scripted protocol").
// It counts the words of what it is told. If the text says "save", it first asks whether it may write a file.
// Everything that must survive a crash is Holdfast's job: the inbox, the turn, the question and the answer to it.
//
//   holdfast agent new summariser --provider scripted -- examples/agents/summariser.mjs
//   holdfast agent ask summariser 'Summarise: three short words'
//   holdfast agent ask summariser 'Summarise and save: three short words'      exit code 3: it asks you something
//   holdfast prompts
//   holdfast answer ID allow
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const FILE = "summary.txt";
/** Prompts that this process has seen: the same id again is the same prompt again. */
const seen = new Set();
/** The summary that waits for a permission, by the number of the question. */
const asked = new Map();

function write(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function startTurn({ id, text }) {
  if (seen.has(id)) return;
  seen.add(id);
  const words = text
    .slice(text.lastIndexOf(":") + 1)
    .trim()
    .split(/\s+/);
  const summary = `${words.length} words`;
  if (!/\bsave\b/.test(text)) return write({ type: "done", response: summary });
  const request = `save-${seen.size}`; // New for every question of this process.
  asked.set(request, summary);
  write({ type: "text", text: `I would like to write ${FILE}.` });
  write({ type: "ask", request, tool: "Write", input: { file_path: FILE, content: summary } });
}

function finishTurn({ request, decision }) {
  const summary = asked.get(request);
  if (summary === undefined) return;
  asked.delete(request);
  if (decision === "allow") writeFileSync(FILE, `${summary}\n`);
  write({ type: "done", response: decision === "allow" ? `${summary}, saved` : `${summary}, not saved` });
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === "prompt") startTurn(message);
  if (message.type === "answer") finishTurn(message);
  if (message.type === "interrupt") write({ type: "failed", reason: "interrupted" });
}
// End of input: this process is suspended. The next message to the agent starts another one.
