// The common part of every peer's host. A host is what an application of that peer would be: it contains the workflow's
// code and runs the steps. It reads what to run from standard input, one line of JSON each, and reports on standard
// output when that is done.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A step without a command is as small as one can be; one with a command is the shell that ours starts. */
export async function step(workflow, number, command) {
  if (command !== null) await shell(command, { ...process.env, WORKFLOW: workflow, STEP: String(number) });
  return number;
}

function shell(command, env) {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-e", "-c", command], { env, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`exit code ${code}: ${command}`))));
  });
}

/**
 * `run` starts workflows and waits for their end; `resume` continues those that a killed host left, if the peer does
 * not by itself.
 */
export async function serve({ run, resume }) {
  say({ kind: "ready" });
  for await (const line of createInterface({ input: process.stdin })) {
    const { kind, ...work } = JSON.parse(line);
    try {
      await (kind === "resume" ? resume(work) : run(work));
      say({ kind: "done" });
    } catch (error) {
      say({ kind: "failed", message: String(error?.stack ?? error) });
    }
  }
  process.exit(0);
}

function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
