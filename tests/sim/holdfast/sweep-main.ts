// Carries out scripts (sweep.ts) in a process of its own, for the same reason as main.ts: reads each as a line of JSON,
// and answers with a line: what came of it, or why it failed.

// The daemon loads it with the first workflow, which would take real time in the first script.
import "../../../src/wire/files/workflow-file.ts";
import { createInterface } from "node:readline";
import { heedUnhandled, live } from "./sweep.ts";

heedUnhandled();

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify({ lived: await live(JSON.parse(line)) }));
  } catch (error) {
    console.log(JSON.stringify({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }));
  }
}
