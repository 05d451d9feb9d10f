// `holdfast replay`, with real holders.
import { afterAll, expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { terminalFiles } from "../../src/home/held/holder-files.ts";
import { timesOf } from "../../src/home/held/past.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { endAll, Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";

afterAll(endAll, 180_000);

const ESC = "\u001b";

/** What a program may say to its terminal and what must not reach another one: queries, title, clipboard, a bell. */
const RUDE = `${ESC}[c${ESC}[6n${ESC}]10;?${ESC}\\${ESC}]2;a title${ESC}\\${ESC}]52;c;c2VjcmV0${ESC}\\\u0007${ESC}P$qm${ESC}\\`;

/** A terminal that has printed `one`, and `two` at a later moment, both in colour, with rude words between. */
async function twice(home: Home): Promise<{ readonly id: string; readonly times: readonly number[] }> {
  writeFileSync(join(home.path, "first"), `${ESC}[31mone${ESC}[m\r\n${RUDE}`);
  writeFileSync(join(home.path, "second"), `${ESC}[2J${ESC}[H${ESC}[32mtwo${ESC}[m\r\n`);
  const script = "stty -echo; cat first; until [ -e go ]; do sleep 0.05; done; cat second; exec sleep 1000";
  await home.ok("new", "-d", "past", "--", "sh", "-c", script);
  const { id } = await home.listed("past");
  const moments = () => [...timesOf(terminalFiles(realDisk(), home.path, id)).from(0)].map(({ time }) => time);
  const first = await until("the first moment", () => moments().at(-1), moments);
  await until(
    "another moment is due",
    () => Date.now() > first + 600,
    () => Date.now(),
  );
  writeFileSync(join(home.path, "go"), "");
  await until("a later moment", () => (moments().at(-1) ?? 0) > first, moments);
  return { id, times: moments() };
}

const home = new Home();
const recorded = twice(home);
const iso = (time: number | undefined): string => new Date(time ?? 0).toISOString();

test("--at shows the screen of that moment: as text, with colours in a window, and as JSON; rude words reach nobody", async () => {
  const { times } = await recorded;
  const between = iso((times.at(-1) ?? 0) - 1);
  const said = await home.run("replay", "past", "--at", between);
  expect([said.code, said.out]).toEqual([0, "one\n"]);
  expect(await home.ok("replay", "past", "--at", "now")).toBe("two\n");
  expect(await home.json("replay", "past", "--at", between)).toMatchObject({
    ...{ name: "past", cols: 80, rows: 24, exact: true, alternate: false, title: "a title" },
    ...{ time: iso(times.at(-2)), cursor: { x: 0, y: 1, visible: true }, lines: ["one", ...Array(23).fill("")] },
  });
  const window = home.window(["replay", "past", "--at", between]);
  expect(await window.exited).toBe(0);
  expect(window.seen).toContain(`${ESC}[31mone`);
  for (const rude of [`${ESC}[c`, `${ESC}[6n`, `${ESC}]`, "\u0007", `${ESC}P`]) expect(window.seen).not.toContain(rude);
});

test("--export writes an asciicast with times and sizes; a part begins with its screen, and a file is never overwritten", async () => {
  const { times } = await recorded;
  const cast = async (...flags: readonly string[]) => {
    const lines = (await home.ok("replay", "past", "--export", "-", ...flags)).trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line));
  };
  const [head, ...events] = await cast();
  const timestamp = Math.floor((times[0] ?? 0) / 1000);
  expect(head).toEqual({ version: 2, width: 80, height: 24, timestamp, title: "past" });
  const text = events.map(([, , said]) => said).join("");
  expect(text).toBe(`${ESC}[31mone${ESC}[m\r\r\n${ESC}]2;a title${ESC}\\${ESC}[2J${ESC}[H${ESC}[32mtwo${ESC}[m\r\r\n`);
  expect(events.at(-1)?.[0]).toBe(((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000);
  expect((await cast("--max-idle", "100ms")).at(-1)[0]).toBe(0.1 * (times.length - 1));
  const later = await cast("--from", iso((times.at(-1) ?? 0) - 1));
  expect(later[1]).toEqual([0, "o", expect.stringContaining("one")]);
  expect(later[2]).toEqual([0, "o", expect.stringContaining("two")]);
  const earlier = await cast("--to", iso((times.at(-1) ?? 0) - 1));
  expect(JSON.stringify(earlier)).not.toContain("two");
  await home.ok("replay", "past", "--export", "past.cast");
  expect(readFileSync(join(home.path, "past.cast"), "utf8").split("\n").length).toBe(events.length + 2);
  const again = await home.run("replay", "past", "--export", "past.cast");
  expect([again.code, again.err]).toEqual([2, expect.stringContaining("past.cast exists already")]);
  const mixed = await home.run("replay", "past", "--export", "-", "--at", "1m");
  expect([mixed.code, mixed.err]).toEqual([2, expect.stringContaining("--at shows one moment")]);
});

test("it is played in a window of any size: pause, jumps and the end; nothing but its screen reaches the window", async () => {
  const { times } = await recorded;
  const window = home.window(["replay", "past", "--speed", "0.01"], { cols: 60, rows: 10 });
  await window.shows("one");
  await window.shows(" past  ");
  window.type(" ");
  await window.shows("paused");
  expect(window.seen).not.toContain("two");
  window.type(`${ESC}[C`);
  await window.shows(`${ESC}[32mtwo`);
  const before = window.seen.length;
  window.type(`${ESC}[D`);
  await until(
    "it shows the beginning again",
    () => window.seen.slice(before).includes("one"),
    () => window.seen.slice(before),
  );
  window.type("q");
  expect(await window.exited).toBe(0);
  expect(window.seen.endsWith(`${ESC}[?1049l`)).toBe(true);
  for (const rude of [`${ESC}[c`, `${ESC}[6n`, `${ESC}]`, "\u0007", `${ESC}P`]) expect(window.seen).not.toContain(rude);
  const whole = home.window(["replay", "past", "--speed", "1000", "--from", iso(times[0])], { cols: 100, rows: 30 });
  await whole.shows("end");
  expect(whole.seen).toContain(`${ESC}[32mtwo`);
  whole.type("\u0003");
  expect(await whole.exited).toBe(0);
  const piped = await home.run("replay", "past");
  expect([piped.code, piped.err]).toEqual([
    1,
    expect.stringContaining("Use --at TIME for one screen, or --export FILE"),
  ]);
});

test("a moment before the first, and something that is no time, are refused", async () => {
  await recorded;
  const early = await home.run("replay", "past", "--at", "2020-01-01 10:00");
  expect([early.code, early.err]).toEqual([1, expect.stringContaining("The times of this terminal begin at")]);
  const wrong = await home.run("replay", "past", "--at", "tomorrow");
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("tomorrow is not a time")]);
  expect((await home.run("replay", "none", "--at", "1m")).code).toBe(4);
});

test("it works while the daemon is down and after the program has ended; without times it says so", async () => {
  const { id, times } = await recorded;
  await home.ok("kill", "past");
  await home.ok("down");
  expect(await home.ok("replay", "past", "--at", iso((times.at(-1) ?? 0) - 1))).toBe("one\n");
  expect(await home.ok("replay", "past", "--at", "now")).toBe("two\n");
  rmSync(join(home.path, "terminals", id, "times"), { recursive: true });
  const older = await home.run("replay", "past", "--at", "now");
  expect([older.code, older.err]).toEqual([
    1,
    expect.stringContaining("it is all from before this version of Holdfast"),
  ]);
  expect(await home.ok("history", "past")).toContain("two");
});
