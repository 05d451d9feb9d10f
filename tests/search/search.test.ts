// `holdfast search` with a real daemon, real holders, and the real program that keeps the index.
import { afterAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Finder } from "../../src/search/finder.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { endAll, Home } from "../cli/terminal-home.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";

afterAll(endAll, 180_000);

const home = new Home();
const REST = { kinds: [], limit: 10, skip: [] };
const ESC = "\u001b";

/** Prints a file that may come later, and goes on. */
const SCRIPT =
  "stty -echo; cat first; until [ -e go ]; do sleep 0.05; done; cat second; echo all-printed; exec sleep 1000";
const begun = begin();

async function begin(): Promise<void> {
  const filler = Array.from({ length: 20_000 }, (_, n) => `${ESC}[3${n % 8}mline ${n} of the build${ESC}[m`);
  writeFileSync(join(home.path, "first"), `The ${ESC}[1mNeedle${ESC}[m in the hay\r\n${filler.join("\r\n")}\r\n`);
  writeFileSync(join(home.path, "second"), `another needle, much later\r\n${filler.join("\r\n")}\r\n`);
  await home.ok("new", "-d", "builder", "--", "sh", "-c", SCRIPT);
  await home.says("builder", "line 19999 of the build");
}

const indexDirectory = join(home.path, "search");
const isIndex = (name: string) => name.endsWith(".idx");
const indexed = () => (existsSync(indexDirectory) ? readdirSync(indexDirectory).filter(isIndex) : []);

async function search(...words: readonly string[]) {
  const { code, out } = await home.run("search", "--json", ...words);
  const { hits } = JSON.parse(out);
  return { code, texts: hits.map(({ text }: { text: string }) => text), hits };
}

/** The processes of this home's index. */
function indexers(): number[] {
  const isOne = (pid: string) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      const env = readFileSync(`/proc/${pid}/environ`, "utf8");
      return words.includes("src/search/main.ts\0index") && env.includes(`HOLDFAST_HOME=${home.path}\0`);
    } catch {
      return false; // It has just gone.
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isOne(name))
    .map(Number);
}

test("what a terminal printed is found as plain text, before it is indexed and after, and nothing is exit code 4", async () => {
  await begun;
  const first = await search("NEEDLE", "hay");
  expect([first.code, first.texts]).toEqual([0, ["The Needle in the hay"]]);
  expect(first.hits[0]).toMatchObject({ kind: "terminal", name: "builder" });
  await until("an index", () => indexed().length > 0, indexed);
  expect((await search("needle hay")).texts).toEqual([]);
  expect((await search("needle", "hay")).hits).toEqual(first.hits);
  const nothing = await home.run("search", "no such words");
  const words = expect.stringMatching(/^(?:holdfast: The index is being built .*\n)?holdfast: Nothing found\.\n$/);
  expect([nothing.code, nothing.out, nothing.err]).toEqual([4, "", words]);
  const modes = [indexDirectory, join(indexDirectory, indexed()[0] ?? "")].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
});

test("the newest line comes first, -n limits, and --in says where", async () => {
  await begun;
  writeFileSync(join(home.path, "go"), "");
  await home.says("builder", "all-printed");
  expect((await search("needle")).texts).toEqual(["another needle, much later", "The Needle in the hay"]);
  expect((await search("line", "build", "-n", "3")).texts).toEqual(
    [19_999, 19_998, 19_997].map((n) => `line ${n} of the build`),
  );
  expect((await search("needle", "--in", "runs")).code).toBe(4);
  expect((await search("builder", "--in", "names")).hits).toMatchObject([
    { kind: "name", of: "terminal", name: "builder" },
  ]);
  const plain = await home.ok("search", "much later");
  expect(plain).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC {2}terminal builder {2}another needle, much later\n$/);
});

test("messages, prompts and runs are found in the logs of agents and runs", async () => {
  await begun;
  await home.ok("agent", "new", "clerk", "--provider", "scripted", "--", "cat");
  await home.ok("agent", "send", "clerk", "please count the penguins");
  writeFileSync(join(home.path, "w.yml"), "name: zoo\nsteps:\n  - shell: echo fed the walrus; seq 1 20000\n");
  await home.ok("run", join(home.path, "w.yml"));
  const found = async (words: string) => {
    const { hits } = await search(words);
    return hits.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`);
  };
  await until(
    "the message is in its log",
    async () => (await found("penguins")).length > 0,
    () => "nothing",
  );
  expect(await found("penguins")).toEqual(["agent clerk"]);
  const [fed] = (await search("fed the walrus")).hits; // Far from the end of the output, which the run's log has.
  expect(fed).toMatchObject({ kind: "run", name: "zoo", attempt: 1, text: "fed the walrus" });
  expect((await search("the walrus", "--in", "runs")).texts).toEqual(["fed the walrus"]);
  expect((await search("20000", "--in", "runs")).texts).toEqual(["20000"]); // In both, and found once.
});

test("an index that is lost is made again", async () => {
  await begun;
  await until("no indexer", () => indexers().length === 0, indexers);
  rmSync(indexDirectory, { recursive: true });
  await home.ok("new", "-d", "waker", "--", "true");
  expect((await search("needle")).texts).toHaveLength(2);
  await until("an index", () => indexed().some((name) => name.startsWith("terminals-")), indexed);
  expect((await search("needle")).texts).toHaveLength(2);
});

test("IN1 the indexer, killed at work, goes on where it was, and everything is found at any time", async () => {
  const place = mkdtempSync("/tmp/hfs-");
  const tape = join(place, "terminals", "t", "tape");
  mkdirSync(tape, { recursive: true });
  const part = Buffer.from(Array.from({ length: 45_000 }, (_, n) => `line ${n} of a long story\r\n`).join(""));
  for (const number of [0, 1, 2, 3])
    writeFileSync(join(tape, `${String(number * part.length).padStart(16, "0")}.seg`), part);
  const finder = () => {
    const found = new Finder({ disk: realDisk(), home: place }, { op: "find", words: ["line 4711 of"], ...REST });
    return [...found.lines()].filter((line) => line !== undefined).length;
  };
  const files = () => (existsSync(join(place, "search")) ? readdirSync(join(place, "search")) : []).filter(isIndex);
  const order = `${JSON.stringify({ home: place, maxBytes: 1 << 30, check: 1, skip: [] })}\n`;
  for (const most of [1, Number.POSITIVE_INFINITY]) {
    const child = Bun.spawn(ours("src/search/main.ts", "index"), { stdio: ["pipe", "ignore", "inherit"] });
    child.stdin.write(order);
    await child.stdin.flush();
    await until("it is far enough", () => files().length >= most || child.exitCode !== null, files);
    child.kill("SIGKILL");
    await child.exited;
    expect(finder()).toBe(4);
  }
  expect(files().length).toBeGreaterThan(1);
  rmSync(place, { recursive: true });
});

test("a damaged index is reported and made again, and what is found stays the same", async () => {
  await begun;
  await until("no indexer", () => indexers().length === 0, indexers);
  const [name = ""] = indexed().filter((one) => one.startsWith("terminals-"));
  const path = join(indexDirectory, name);
  writeFileSync(path, readFileSync(path).fill(0x41, 3000));
  expect((await search("needle")).texts).toHaveLength(2);
  await until(
    "the log says so",
    async () => (await home.ok("logs")).includes(`damaged and made again: ${name}`),
    () => name,
  );
  await until("it is whole again", () => existsSync(path) && !readFileSync(path).includes("AAAAAAAA"), indexed);
  const check = (await home.run("doctor", "--json")).out;
  expect(JSON.parse(check).checks).toContainEqual(expect.objectContaining({ name: "search" }));
});

test("what is removed is not found, and its index is removed with it", async () => {
  await begun;
  const { id } = await home.listed("builder");
  await home.ok("rm", "-f", "builder");
  expect((await search("needle")).texts).toEqual([]);
  await until("its index is gone", () => !indexed().some((name) => name.includes(id)), indexed);
});
