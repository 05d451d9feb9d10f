// What the host of every peer does alike. A host is the program that an application of that peer would be: it has the workflow's code in
// it and runs the steps. It is told what to run on standard input, a line of JSON each, and says on standard output when that is done.
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

/** `run` starts workflows and waits for their end; `resume` takes up those that a killed host left, where the peer does not by itself. */
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
