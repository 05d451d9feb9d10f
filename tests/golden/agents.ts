// The agents of the golden home: a tree of them, what they asked and were told, and each way in which a turn can end.
import { join } from "node:path";
import { AGENT } from "./flows.ts";
import type { Product } from "./product.ts";

/** What follows the settings of an agent that has no provider of the configuration. */
export const SCRIPT = ["--", "/bin/sh", "-c", AGENT] as const;

/** A tree with a lead, and what comes of questions to a person. */
export async function agents(product: Product): Promise<void> {
  const scripted = ["--provider", "scripted"];
  await product.ok(["rules", "add", "allow", "Bash", "--arg", "command=git *"]);
  await product.ok(["rules", "add", "deny", "Bash", "--arg", "command=curl **", "--message", "not from here"]);
  const rule = await product.json("rules", "add", "allow", "Read");
  await product.ok(["rules", "rm", rule.id]);
  await product.ok(["agent", "new", "lead", ...scripted, "--system-prompt", "You lead.", ...SCRIPT]);
  await product.ok(["agent", "ask", "lead", "hello"]);
  await product.ok(["agent", "ask", "lead", "GIT please"]);
  await product.ok(["agent", "ask", "lead", "REMIND yourself"]);
  await product.ok(["agent", "ask", "lead", "SPAWN a kid"]);
  await product.shows("the kid is well", "agent", "log", "lead");
  await product.ok(["agent", "new", "worker", "--parent", "lead", "--provider", "worker"]);
  await product.ok(["agent", "ask", "worker", "ASK me"], [3]);
  await answerOpen(product, "deny", "--message", "better not");
  await product.shows("Kept.", "agent", "log", "worker");
  await product.ok(["agent", "ask", "worker", "ASK me again"], [3]);
  await answerOpen(product, "allow", "--always");
  await product.shows("Removed.", "agent", "log", "worker");
  await product.ok(["rules", "add", "deny", "Write", "--agent", "worker"]);
  await product.ok(["agent", "set", "worker", "--recovery", "ask", "--prompt-ttl", "20d", "--hung-after", "2h"]);
  const finisher = await product.ok(["agent", "new", "finisher", "--parent", "lead", ...scripted, ...SCRIPT]);
  await product.ok(["agent", "send", "finisher", "COMPLETE it"]);
  await product.shows("terminated", "agent", "log", finisher.trim());
  await product.ok(["agent", "new", "limited", ...scripted, "--instructions", "LIMIT", ...SCRIPT]);
  await product.shows('"sleeping"', "agent", "inspect", "limited", "--json");
  await product.ok(["agent", "new", "failing", ...scripted, ...SCRIPT]);
  await product.ok(["agent", "ask", "failing", "FAIL at it"], [1]);
  const crash = ["--instructions", "CRASH", "--recovery-prompt", "CRASH again"];
  await product.ok(["agent", "new", "crashing", ...scripted, ...crash, ...SCRIPT]);
  await product.ok(["agent", "new", "gone", ...scripted, ...SCRIPT]);
  await product.ok(["agent", "terminate", "gone", "--reason", "not needed"]);
  await product.ok(["agent", "new", "liner", "--provider", "line"]);
  await product.ok(["agent", "ask", "liner", "one"]);
  await product.ok(["agent", "ask", "liner", "two"]);
}

/** What becomes of a turn and a question in other ways. */
export async function troubled(product: Product): Promise<void> {
  const { root } = product;
  await product.ok(["agent", "new", "stopped", "--provider", "worker", "--instructions", "HOLD"]);
  await product.shows("I hold on.", "agent", "log", "stopped");
  await product.ok(["agent", "interrupt", "stopped"]);
  await product.shows('"state":"idle"', "agent", "inspect", "stopped", "--json");
  await product.ok(["agent", "ask", "stopped", "SOON"]);
  await product.shows("it is time", "agent", "log", "stopped");
  const denied = ["--prompt-after", "1s", "--prompt-default", "deny"];
  await product.ok(["agent", "new", "unwatched", "--provider", "worker", ...denied]);
  await product.ok(["agent", "send", "unwatched", "ASK nobody"]);
  await product.shows("Kept.", "agent", "log", "unwatched");
  await product.ok(["agent", "ask", "unwatched", "WITHDRAW it"]);
  await product.ok(["agent", "suspend", "unwatched"]);
  await product.ok(["agent", "new", "tree", "--provider", "worker", "--worktree", "--cwd", join(root, "repo")]);
  await product.ok(["agent", "ask", "tree", "hello"]);
  await product.ok(["agent", "new", "boxed", "--provider", "worker", "--sandbox", "--no-network"]);
  await product.ok(["agent", "ask", "boxed", "hello"]);
}

/** One whose answers come from an endpoint: its conversation is in the log alone. */
export async function modelAgent(product: Product): Promise<void> {
  await product.ok(["agent", "new", "bare", "--provider", "model", "--system-prompt", "You are bare."]);
  await product.ok(["agent", "ask", "bare", "what is there?"]);
}

async function answerOpen(product: Product, ...words: readonly string[]): Promise<void> {
  const [prompt] = await product.json("prompts");
  await product.ok(["answer", prompt.id, ...words]);
}
