// What the commands print for people: times of their own clock, tables that fit their window, help that can be found;
// and for programs: UTC, and JSON from every command that changes something.
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, Home } from "./terminal-home.ts";

afterEach(endAll, 180_000);

const FAILING = "name: a-workflow-with-a-rather-long-name\nsteps:\n  - {id: the-only-step-there-is, shell: exit 7}\n";
/** Half an hour beside the full one, so that it can be no coincidence. */
const INDIA = { TZ: "Asia/Kolkata" };

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function minutesBetween(shown: string, iso: string): number {
  const [, date, time] = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) \+05:30/.exec(shown) ?? [];
  return Math.round((Date.parse(`${date}T${time}Z`) - Date.parse(iso)) / 60_000);
}

test("times are local, with their zone, in tables, and UTC in --json", async () => {
  const home = new Home();
  writeFileSync(join(home.path, "w.yaml"), FAILING);
  expect((await home.run("run", "w.yaml")).code).toBe(7);
  const [run] = await home.json("workflows");
  expect(run.startedAt).toMatch(UTC);
  const { out } = await home.at("", INDIA, "workflows");
  expect(minutesBetween(out, run.startedAt)).toBe(330);
  const status = await home.at("", INDIA, "status");
  expect(minutesBetween(status.out, (await home.status()).daemon.startedAt)).toBe(330);
  const report = await home.at("", INDIA, "recovery", "report");
  expect(minutesBetween(report.out, (await home.json("recovery", "report")).at)).toBe(330);
  expect((await home.at("", { TZ: "UTC" }, "workflows")).out).toMatch(/\d\d:\d\d:\d\d UTC/);
});

const IN_UTC = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

test("times in messages, notes and logs are local as well, whoever wrote them", async () => {
  const home = new Home();
  await home.ok("up");
  const began = Date.now();
  const { out: sound } = await home.at("", INDIA, "doctor");
  const { out: log } = await home.at("", INDIA, "logs");
  for (const text of [sound, log]) {
    expect(text).not.toMatch(IN_UTC);
    expect(Math.abs(minutesBetween(text, new Date(began).toISOString()) - 330)).toBeLessThanOrEqual(5);
  }
  expect((await home.json("doctor")).checks.find(({ name }: { name: string }) => name === "clock").what).toMatch(UTC);
  expect((await home.json("logs")).at(-1)).toMatch(IN_UTC);
});

test("tables, reports and the configuration fit a narrow window, and are whole elsewhere", async () => {
  const home = new Home();
  writeFileSync(join(home.path, "w.yaml"), FAILING);
  expect((await home.run("run", "w.yaml")).code).toBe(7);
  await home.ok("new", "-d", "work", "--", "sh", "-c", "while :; do sleep 1; echo a long command line; done");
  await home.ok("rules", "add", "deny", "Bash", "--arg", "command=git push *", "--message", "x".repeat(100));
  for (const words of [
    ["workflows"],
    ["ls"],
    ["rules", "ls"],
    ["checkpoints", "ls"],
    ["config", "show"],
    ["log", "verify"],
  ]) {
    const window = home.window(words, { cols: 60 });
    expect(await window.exited).toBe(0);
    const lines = window.seen.split("\r\n");
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(60);
    if (words[0] !== "ls") expect(await home.ok(...words)).not.toContain("…"); // It cuts programs anyway.
  }
  const seen = async (cols: number, ...words: readonly string[]) => {
    const window = home.window(words, { cols });
    await window.exited;
    return window.seen;
  };
  expect(await seen(60, "workflows")).toMatch(/\r\n {2}→ holdfast resume [0-9a-f]{8}\r\n/);
  for (const run of [[], ["w.yaml"]])
    expect(await seen(80, "checkpoints", "ls", ...run)).toMatch(/VALID\r\n.* yes\r\n/);
});

test("messages, help, status and doctor are broken between words in a narrow window, and commands stay whole", async () => {
  const home = new Home();
  writeFileSync(join(home.path, "w.yaml"), FAILING);
  for (const _ of [1, 2, 3]) await home.run("run", "w.yaml");
  const id = (await home.json("workflows"))[0].id.slice(0, 8);
  const wordsIn = (text: string) => text.split(/\s+/).filter((word) => word !== "");
  for (const words of [
    ["help", "agent", "new"],
    ["help"],
    ["resume", "w.yaml"],
    ["workflows", "show", id],
    ["doctor"],
  ]) {
    const window = home.window(words, { cols: 60 });
    await window.exited;
    for (const line of window.seen.split("\r\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(60);
    const { out, err } = await home.run(...words);
    // Clocks and files change, and the steps of a run take one row each.
    if (!["doctor", "workflows"].includes(words[0] ?? "")) expect(wordsIn(window.seen)).toEqual(wordsIn(out + err));
  }
  const window = home.window(["status"], { cols: 60 });
  await window.exited;
  expect(window.seen).toMatch(
    /\r\nneeds you {2}run a-workflow-with-a-rather-long-name \([0-9a-f]{8}\)\r\n {11}failed: /,
  );
  expect(window.seen).toMatch(/\r\n {2}→ holdfast resume [0-9a-f]{8}\r\n/);
});

test("send, rename, move and down print JSON", async () => {
  const home = new Home();
  const { id } = JSON.parse(await home.ok("new", "--json", "one", "--", "cat"));
  expect(await home.json("send", "one", "hello", "-e")).toEqual({ id, name: "one", bytes: 6 });
  expect(await home.json("rename", "one", "two")).toEqual({ id, name: "two" });
  expect(await home.json("move", "two", "blue")).toEqual({ id, name: "two", lane: "blue" });
  expect(await home.json("down")).toEqual({ home: home.path, state: "down", killed: false });
});

test("the help of a command names the fields that its --json prints", async () => {
  const home = new Home();
  writeFileSync(join(home.path, "w.yaml"), FAILING);
  await home.ok("new", "-d", "work", "--", "cat");
  await home.run("run", "w.yaml");
  await home.ok("rules", "add", "deny", "Bash");
  await home.ok("agent", "new", "a", "--provider", "scripted", "--", "cat");
  const commands: readonly (readonly [string, ...string[]])[] = [
    ...([["ls"], ["workflows ls"], ["workflows show", "w.yaml"], ["checkpoints ls"], ["checkpoints verify"]] as const),
    ...([["status"], ["agent tree"], ["rules ls"], ["config show"], ["config check"], ["doctor"]] as const),
    ...([["recovery report"], ["recovery status"], ["gc", "--dry-run"], ["log verify"], ["safe-mode status"]] as const),
    ...([
      ["history", "work"],
      ["send", "work", "x"],
      ["rename", "work", "job"],
      ["move", "job", "blue"],
    ] as const),
  ];
  for (const [command, ...words] of commands) {
    const help = await home.ok("help", ...command.split(" "));
    const text = /\n +\[--json\] +(.*)/.exec(help)?.[1]?.replace(/: (?:\[\{[^}]*\}\]|\[[^\]]*\]|\{[^}]*\})/g, "") ?? "";
    const named = /\{(.*?)\}/.exec(text)?.[1]?.split(", ") ?? [];
    // Not its exit code: on a busy machine `doctor` and `status` may find that the daemon answers late.
    const { out, err } = await home.run(...command.split(" "), ...words, "--json");
    expect({ command, refused: out === "" ? err : "" }).toEqual({ command, refused: "" });
    const printed = JSON.parse(out);
    const fields = Object.keys(Array.isArray(printed) ? printed[0] : printed);
    const always = named.filter((field) => !field.endsWith("?"));
    const known = named.map((field) => field.replace("?", ""));
    expect({ command, lacks: always.filter((field) => !fields.includes(field)) }).toEqual({ command, lacks: [] });
    expect({ command, hides: fields.filter((field) => !known.includes(field)) }).toEqual({ command, hides: [] });
  }
  expect(await home.json("kill", "job", "-s", "WINCH")).toMatchObject({ name: "job", sent: "SIGWINCH" });
});

test("help is grouped, `help X` is `X --help`, and a command's help has its summary and its description", async () => {
  const home = new Home();
  const top = await home.ok("help");
  expect(await home.ok("--help")).toBe(top);
  const groups = [
    "Terminals\n  new ",
    "Workflows\n  run ",
    "Agents\n  agent ",
    "Recovery\n  recovery ",
    "System\n  up ",
  ];
  const places = groups.map((group) => top.indexOf(`\n${group}`));
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places.toSorted((a, b) => a - b)).toEqual(places);
  expect(top).not.toContain("__complete");
  for (const words of [["kill"], ["agent", "new"], ["recovery"]])
    expect(await home.ok("help", ...words)).toBe(await home.ok(...words, "--help"));
  const kill = await home.ok("help", "kill");
  expect(kill).toContain("\nEnd the programs in terminals.\n\nAsks the programs to end");
  expect(kill).toContain("Show help\n");
  expect((await home.run("help", "nonsense")).code).toBe(2);
});

test("status names what waits for a person, with the next command, and is still a success", async () => {
  const home = new Home();
  writeFileSync(join(home.path, "w.yaml"), FAILING);
  await home.ok("up");
  expect(await home.ok("status")).not.toContain("needs you");
  expect((await home.run("run", "w.yaml")).code).toBe(7);
  const [{ id, name }] = await home.json("workflows");
  const what = `run ${name} (${id.slice(0, 8)}) failed: the-only-step-there-is: `;
  const out = await home.ok("status");
  expect(out).toContain(`needs you  ${what}`);
  expect(out).toContain(`\n  → holdfast resume ${id.slice(0, 8)}\n`);
  const { attention } = await home.status();
  expect(attention).toEqual([{ what: expect.stringContaining(what), next: `holdfast resume ${id.slice(0, 8)}` }]);
  writeFileSync(join(home.path, "w.yaml"), FAILING.replace("exit 7", "'true'"));
  await home.ok("run", "w.yaml"); // A newer run of it.
  expect(await home.ok("status")).not.toContain("needs you");
});
