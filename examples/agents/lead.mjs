#!/usr/bin/env node
// A scripted agent that has another agent do the work: it calls Holdfast's tools (docs/AGENTS.md, "Tools").
// Its first turn starts a child. The child's answer arrives as a message, which is its second turn.
//
//   export HOLDFAST_CONFIG=$PWD/examples/agents/providers.toml      it has the providers `lead` and `helper`
//   holdfast down                                                   it is read at the start; programs keep running
//   holdfast agent new lead --provider lead
//   holdfast agent ask lead 'count: to be or not to be'
//   holdfast agent tree
//   holdfast agent log lead
import { createInterface } from "node:readline";

function write(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === "prompt" && message.text.includes("count:")) {
    // `call` is unique within the agent, so that a call repeated after a crash happens once.
    const args = { name: `counter-${message.id.slice(0, 8)}`, instructions: message.text, provider: "helper" };
    write({ type: "call", call: `spawn-${message.id}`, tool: "spawn_agent", args });
  } else if (message.type === "prompt") {
    write({ type: "done", response: `My agent reports: ${message.text}` });
  } else if (message.type === "result") {
    write({ type: "done", response: message.ok ? "An agent of mine works on it." : "No agent could be started." });
  }
}
