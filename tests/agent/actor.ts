// A scripted agent for tests: a program on pipes that does what its prompts tell it (docs/AGENTS.md has its protocol).
//   say X        says it;                     ask TOOL X    asks for a permission, and says what was decided
//   call T JSON  calls one of our tools;      append F X    appends a line to a file, once for each time it is told
//   crash        ends with an error at once;  hang          says nothing more
//   long F writes how long its prompt was; once F what comes next is left out where the file is there, else it is made
//   wait F       goes on when there is such a file; fail X  fails the turn
//   partial X    says a part of what it will say; retrying X  says that its provider tries again; used says so
//   sh X         runs it in a shell, as a coding agent does, and says its exit code and what it wrote
// ACTOR_OPENED names a file that gets a line for each time it is opened.
import { appendFileSync, existsSync, writeSync } from "node:fs";

type Told = { type: string; [name: string]: unknown };

const waiting = new Map<string, (told: Told) => void>();
let number = 0;

function tell(message: object): void {
  writeSync(1, `${JSON.stringify(message)}\n`); // Synchronously: it may crash right after.
}

function wait(key: string): Promise<Told> {
  return new Promise((resolve) => waiting.set(key, resolve));
}

async function isThere(file: string): Promise<void> {
  while (!existsSync(file)) await Bun.sleep(2);
}

/** The turn is over; the remaining lines are not executed. */
function fail(reason: string): Promise<never> {
  tell({ type: "failed", reason, retryable: false });
  return new Promise(() => undefined);
}

function once(file: string): string {
  const again = existsSync(file);
  appendFileSync(file, "");
  return again ? "again" : "";
}

async function shell(script: string): Promise<string> {
  const child = Bun.spawn(["/bin/sh", "-c", `{ ${script}\n} 2>&1`], { stdio: ["ignore", "pipe", "ignore"] });
  const [out, code] = await Promise.all([child.stdout.text(), child.exited]);
  return `exit ${code}: ${out}`;
}

function tellNews(verb: string, what: string): void {
  if (verb === "partial") tell({ type: "partial", text: what });
  if (verb === "used") tell({ type: "usage", input_tokens: 1_234, output_tokens: 56, cost_usd: 0.5 });
  if (verb === "retrying") tell({ type: "retrying", reason: what, attempt: 1, of: 3, delay_ms: 60_000 });
}

async function act(line: string, whole: string): Promise<string> {
  const [verb = "", ...rest] = line.trim().split(" ");
  const what = rest.join(" ");
  number += 1;
  const key = `${process.pid}-${number}`;
  if (verb === "crash") process.exit(9);
  if (verb === "hang") return new Promise(() => undefined);
  if (verb === "append") appendFileSync(rest[0] ?? "", `${rest.slice(1).join(" ")}\n`);
  if (verb === "long") appendFileSync(what, `${whole.length}\n`);
  if (verb === "wait") await isThere(what);
  tellNews(verb, what);
  if (verb === "fail") return fail(what);
  if (verb === "once") return once(what);
  if (verb === "ask") {
    tell({ type: "ask", request: key, tool: rest[0], input: { command: rest.slice(1).join(" ") } });
    return String((await wait(key))["decision"]);
  }
  if (verb === "call") {
    tell({ type: "call", call: key, tool: rest[0], args: JSON.parse(rest.slice(1).join(" ") || "{}") });
    return JSON.stringify((await wait(key))["result"]);
  }
  if (verb === "sh") return shell(what);
  if (verb === "say") tell({ type: "text", text: what });
  return verb === "say" ? what : "";
}

async function turn(text: string): Promise<void> {
  let response = "";
  // Commands are between markers: the rest of a prompt is for models.
  let skip = false;
  for (const [, line = ""] of text.matchAll(/^.*?>> (.*)$/gm)) {
    if (!skip) response = (await act(line, text)) || response;
    skip = line.startsWith("once ") && response === "again";
  }
  tell({ type: "done", response });
}

let rest = "";
for await (const bytes of Bun.stdin.stream()) {
  const lines = (rest + new TextDecoder().decode(bytes)).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const told = JSON.parse(line) as Told;
    const opened = process.env["ACTOR_OPENED"];
    if (told.type === "open" && opened !== undefined) appendFileSync(opened, `${told["resume"]}\n`);
    if (told.type === "prompt") void turn(String(told["text"]));
    if (told.type === "answer") waiting.get(String(told["request"]))?.(told);
    if (told.type === "result") waiting.get(String(told["call"]))?.(told);
  }
}
process.exit(0);
