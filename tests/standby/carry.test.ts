// Conversations of agents: copied into the home by its owner, and put in their places by the host that takes it over.
import { afterEach, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Terminal } from "../../src/core/terminal/terminal.ts";
import { TakenFiles } from "../../src/daemon/fleet/taken-files.ts";
import { howOf } from "../../src/fleet/ship/which.ts";
import { writeTaken } from "../../src/home/fleet-files.ts";
import { carriedHere, readCarried, writeCarried, writeOutside } from "../../src/home/outside-files.ts";
import { Carrier } from "../../src/standby/carry.ts";
import { realChildren } from "../../src/world/real/children.ts";
import { realWorld } from "../../src/world/world.ts";

const PATH = "projects/-x/11111111-1111-1111-1111-111111111111.jsonl";
const SESSION = "terminals/t1";
const KEY = `${SESSION}/conversation/claude/${PATH}`;
const places: string[] = [];

afterEach(() => {
  for (const place of places.splice(0)) rmSync(place, { recursive: true, force: true });
});

/** A home with one terminal, and the store of a CLI beside it. */
class Carried {
  readonly place = mkdtempSync(join(tmpdir(), "hf-carry-"));
  readonly home = join(this.place, "home");
  readonly store = join(this.place, "user/.claude");
  readonly file = join(this.store, PATH);
  readonly copy = join(this.home, "carried", KEY);
  readonly world = { ...realWorld(), home: this.home };

  constructor() {
    places.push(this.place);
    for (const made of [join(this.home, SESSION), join(this.store, "projects/-x")])
      mkdirSync(made, { recursive: true });
  }

  carrier(maxBytes = 1 << 20): Carrier {
    return new Carrier({ ...this.world, maxBytes });
  }

  names(path = PATH, session = SESSION): void {
    writeOutside(this.world, { conversations: [{ session, cli: "claude", root: this.store, path }], works: [] });
  }

  /** Makes it a home that was taken over. */
  async taken(): Promise<TakenFiles> {
    await writeTaken(this.world, { from: "atlas", at: new Date(0).toISOString(), seq: 1, epoch: 2 });
    const terminal = { recipe: { env: { HOME: join(this.place, "user") } } } as unknown as Terminal;
    return new TakenFiles({
      ...{ place: this.world, agent: () => undefined, environment: () => ({}) },
      terminal: () => terminal,
      programs: { children: realChildren(), self: { environment: () => ({}) } },
      maxBytes: 1 << 20,
    });
  }

  told(files: TakenFiles) {
    const item = { what: "terminal", id: "t1", name: "one", fate: "restarted", reason: "it was", next: "" } as const;
    return files.told([item])[0];
  }
}

test("a conversation is copied in whole lines, and continued as it grows; what is shipped of it is shipped at once", async () => {
  const home = new Carried();
  home.names();
  const carrier = home.carrier();
  await carrier.round();
  expect(existsSync(home.copy)).toBe(false);
  writeFileSync(home.file, "one\ntw");
  await carrier.round();
  expect(readFileSync(home.copy, "utf8")).toBe("one\n");
  const { ino } = statSync(home.copy);
  appendFileSync(home.file, "o\nthree\n");
  await carrier.round();
  expect(readFileSync(home.copy, "utf8")).toBe("one\ntwo\nthree\n");
  expect([statSync(home.copy).ino, statSync(home.copy).mode & 0o777]).toEqual([ino, 0o600]);
  expect(readCarried(home.world)[KEY]).toMatchObject({ bytes: 14 });
  writeFileSync(home.file, "other\nfile, and it is longer\n");
  await home.carrier().round(); // Of the next process.
  expect(readFileSync(home.copy, "utf8")).toBe("other\nfile, and it is longer\n");
  expect([howOf(`carried/${KEY}`), howOf("carried/index.json")]).toEqual(["now", "now"]);
});

test("CY1 nothing is copied that a link leads to, nor from outside of the store", async () => {
  const home = new Carried();
  writeFileSync(join(home.store, ".credentials.json"), "a secret\n");
  symlinkSync(join(home.store, ".credentials.json"), home.file);
  home.names();
  await home.carrier().round();
  symlinkSync(home.place, join(home.store, "projects/-y"));
  writeFileSync(join(home.place, "s.jsonl"), "a secret\n");
  for (const path of ["projects/-y/s.jsonl", "projects/../.credentials.json", "../x.jsonl"]) {
    home.names(path);
    await home.carrier().round();
  }
  expect(readdirSync(join(home.home, "carried"))).toEqual(["index.json"]);
});

test("what is too long or cannot be read is named, and ends nothing", async () => {
  const home = new Carried();
  home.names();
  writeFileSync(home.file, "a line\n".repeat(1_000));
  await home.carrier(100).round();
  expect(readCarried(home.world)[KEY]?.left).toContain("carry_bytes");
  expect(existsSync(home.copy)).toBe(false);
  await home.carrier().round();
  expect(readCarried(home.world)[KEY]).toMatchObject({ bytes: 7_000 });
  expect(readCarried(home.world)[KEY]?.left).toBeUndefined();
});

test("CY3 a copy stays as long as its session, also if the daemon does not name it; another conversation replaces it", async () => {
  const home = new Carried();
  home.names();
  writeFileSync(home.file, "one\n");
  const carrier = home.carrier();
  await carrier.round();
  writeOutside(home.world, { conversations: [], works: [] });
  await carrier.round();
  expect(existsSync(home.copy)).toBe(true);
  writeFileSync(join(home.store, "projects/-x/next.jsonl"), "two\n");
  home.names("projects/-x/next.jsonl");
  await carrier.round();
  expect(existsSync(home.copy)).toBe(false);
  expect(Object.keys(readCarried(home.world))).toEqual([KEY.replace(/[\d-]+\.jsonl/, "next.jsonl")]);
  rmSync(join(home.home, SESSION), { recursive: true });
  writeOutside(home.world, { conversations: [], works: [] });
  await carrier.round();
  expect([readCarried(home.world), readdirSync(join(home.home, "carried/terminals"))]).toEqual([{}, []]);
});

async function shipped(text: string): Promise<Carried> {
  const home = new Carried();
  mkdirSync(join(home.copy, ".."), { recursive: true });
  writeFileSync(home.copy, text);
  writeCarried(home.world, { [KEY]: { at: "2026-01-01T00:00:00.000Z", bytes: text.length } });
  return home;
}

test("on the other host it is put where its CLI looks for it, and the report says so; twice is as once", async () => {
  const home = await shipped("one\ntwo\n");
  rmSync(home.store, { recursive: true });
  const files = await home.taken();
  await files.unpack(() => undefined);
  await files.unpack(() => undefined);
  expect(readFileSync(home.file, "utf8")).toBe("one\ntwo\n");
  expect(statSync(home.file).mode & 0o777).toBe(0o600);
  expect(home.told(files)?.reason).toBe("it was; its conversation came along as of 2026-01-01T00:00:00.000Z");
  expect(home.told(files)?.left).toBeUndefined();
});

test("OF3 work that came along without its entry in the index is there, a conversation is not: it may be half a file", async () => {
  const home = await shipped("one\ntwo\n");
  writeCarried(home.world, {});
  const key = "agents/a1/work.bundle";
  mkdirSync(join(home.home, "carried/agents/a1"), { recursive: true });
  writeFileSync(join(home.home, "carried", key), "a bundle");
  expect(carriedHere(home.world)).toEqual({ [key]: { at: "", bytes: 8 } });
  writeCarried(home.world, { [key]: { at: "2026-01-01T00:00:00.000Z", bytes: 8 } });
  expect(carriedHere(home.world)[key]?.at).toBe("2026-01-01T00:00:00.000Z");
});

test("TF1 a newer one is left alone, an older one is continued, and another one stays, with ours in quarantine", async () => {
  for (const [there, then] of [
    ["one\ntwo\nthree\n", "one\ntwo\nthree\n"],
    ["one\n", "one\ntwo\n"],
    ["", "one\ntwo\n"],
    ["two\n", "two\n"],
  ] as const) {
    const home = await shipped("one\ntwo\n");
    writeFileSync(home.file, there);
    const files = await home.taken();
    await files.unpack(() => undefined);
    expect(readFileSync(home.file, "utf8")).toBe(then);
    const isOther = there === "two\n";
    expect(home.told(files)?.left?.join() ?? "").toMatch(isOther ? /another conversation .*quarantine/ : /^$/);
  }
});

test("TF2 TF3 a person who is not on this host, and a directory that cannot be written, are named", async () => {
  const home = await shipped("one\n");
  rmSync(join(home.place, "user"), { recursive: true });
  const files = await home.taken();
  await files.unpack(() => undefined);
  expect(home.told(files)?.left?.join()).toMatch(/there is no \S+user on this host/);
  expect(home.told(files)?.reason).toContain("on atlas only: its conversation: there is no");
  expect(existsSync(join(home.place, "user"))).toBe(false);
  writeFileSync(join(home.place, "user"), "a file");
  chmodSync(home.place, 0o700);
  await files.unpack(() => undefined);
  expect(home.told(files)?.left).toHaveLength(1);
});
