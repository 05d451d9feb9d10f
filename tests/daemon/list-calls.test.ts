// What a list of terminals costs the daemon, counted on a real one.
import { afterAll, expect, test } from "bun:test";
import { readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { terminalDirectory } from "../../src/home/held/holder-files.ts";
import { endAll, Home } from "../cli/terminal-home.ts";
import { tryStrace } from "../crash/strace.ts";
import { until } from "../until.ts";

afterAll(endAll, 180_000);
const strace = tryStrace();
if (!strace.ok) console.error(`skipped: the calls of a list: ${strace.why}`);

/** The hello is the first request. */
const ANSWER = '\\"id\\":2';

/** What a thread did between the request and its answer. */
function callsOf(trace: string, method: string): string[] {
  const lines = trace.split("\n");
  const from = lines.findIndex((line) => line.startsWith("recvfrom") && line.includes(method));
  const to = lines.findIndex((line, at) => at > from && line.startsWith("sendto") && line.includes(ANSWER));
  return from < 0 || to < 0 ? [] : lines.slice(from + 1, to);
}

test.skipIf(!strace.ok)("a list opens no file of a terminal, and looks at two (needs strace)", async () => {
  const home = new Home();
  await home.ok("up");
  const names = ["a", "b", "c"];
  for (const name of names) await home.ok("new", "-d", name, "--", "sh", "-c", `echo ${name}; exec cat`);
  for (const name of names) {
    await home.says(name, name);
    const { id } = await home.listed(name);
    utimesSync(join(terminalDirectory(home.path, id), "tape"), 1, 1); // As if it had been made long ago.
  }
  await home.ok("ls"); // From now on it is known where the tapes end.

  const { daemon } = await home.status();
  const file = join(home.path, "trace");
  const words = ["-ff", "-y", "-s", "4096", "-p", String(daemon.pid), "-o", file];
  const child = Bun.spawn(["strace", ...words], { stdio: ["ignore", "ignore", "pipe"] });
  const reader = child.stderr.getReader();
  await reader.read(); // It is attached.
  await home.started("ls");
  const calls = () => callsOf(readFileSync(`${file}.${daemon.pid}`, "utf8"), "terminal.list");
  await until(
    "the answer is traced",
    () => calls().length > 0,
    () => readFileSync(`${file}.${daemon.pid}`, "utf8").slice(-500),
  );
  child.kill("SIGINT");
  await child.exited;

  const opened = calls().filter((line) => /^(?:open|openat|openat2|getdents64)\(/.test(line));
  expect(opened.filter((line) => line.includes("/terminals/"))).toEqual([]);
  expect(calls().filter((line) => line.includes("/terminals/")).length).toBe(2 * names.length);
  // Settled: the trace is closed. The engine looks at its own memory now and then.
  expect(calls().filter((line) => line.includes("/proc/") && !line.includes("/statm"))).toEqual([]);
});
