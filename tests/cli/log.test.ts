// `holdfast log` as a user sees it: real processes, real homes.
import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rejects } from "./expect.ts";
import * as homes from "./homes.ts";

const { A, B, cli, closedHome, killedHome, harm } = homes;
afterAll(homes.removeHomes);

const seqs = (out: string): number[] =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => Number.parseInt(line, 10));

/** Every file of a home with its content, to check that nothing was changed. */
function contents(home: string): Record<string, string> {
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => [name, join(parentPath, name)])
      .map(([, path = ""]) => [path, readFileSync(path, "latin1")]),
  );
}

describe("log verify", () => {
  test("a home that was closed cleanly is whole: exit 0, every session with its entries", async () => {
    const home = await closedHome(30);
    const { code, out, err } = await cli(["log", "verify"], { HOLDFAST_HOME: home });
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(out).toContain(`${A}     10       1–28  0`);
    expect(out).toEndWith("whole: 30 entries in 3 sessions\n");
  });

  test("what a killed writer left in the write-ahead log counts, and nothing is changed", async () => {
    const home = await killedHome(9, 6);
    const before = contents(home);
    const { code, out } = await cli(["log", "verify", "--json", "--home", home]);
    const verdict = JSON.parse(out);
    expect(code).toBe(0);
    expect(verdict).toMatchObject({ home, whole: true, running: false, quarantine: [], findings: [] });
    expect(verdict.sessions[0]).toEqual({ session: A, entries: 5, first: 1, last: 13, waiting: 2, trimmed: 0 });
    expect(contents(home)).toEqual(before);
  });

  test("a corrupted line in a session's log is damage: exit 1, with its location and the next command", async () => {
    const home = await closedHome(30);
    harm(join(home, A, "events.jsonl"), "hello");
    const { code, out } = await cli(["log", "verify", "--home", home]);
    expect(code).toBe(1);
    expect(out).toContain(`  damage: ${A}/events.jsonl at 0: a harmed line\n`);
    expect(out).toContain("damaged (2 findings); 29 entries in 3 sessions can be read.\n  → ");
    const other = await cli(["log", "verify", B, "--home", home]);
    expect(other.out).toEndWith("whole: 10 entries in 1 session\n");
  });

  test("acknowledged entries missing from the write-ahead log are damage: which seqs, and where", async () => {
    const home = await killedHome(3, 9);
    const [path = ""] = homes.walFiles(home).filter((file) => readFileSync(file).includes('"i":8'));
    harm(path, '"i":8');
    const { code, out } = await cli(["log", "verify", "--json", "--home", home]);
    const { whole, findings } = JSON.parse(out);
    expect({ code, whole }).toEqual({ code: 1, whole: false });
    expect(findings.map(({ kind, where }: { kind: string; where: string }) => `${kind} ${where}`)).toContain(
      `damage ${path.slice(home.length + 1)}`,
    );
    expect(findings).toContainEqual({
      kind: "damage",
      where: "wal",
      what: "seq 4 to 11 were acknowledged and are gone", // All that were in the harmed frame.
    });
  });

  test("an unfinished line at the end of a session's log is torn, not damaged, if the write-ahead log has it whole", async () => {
    const home = await killedHome(3, 3);
    appendFileSync(join(home, A, "events.jsonl"), '{"seq":4,"prev":1,"sess');
    const { code, out } = await cli(["log", "verify", "--home", home]);
    expect(out).toEndWith(
      "whole: 6 entries in 3 sessions; 1 unfinished write, not known to be acknowledged, which the next start removes\n",
    );
    expect(code).toBe(0);
  });

  test("quarantined files are listed with their origin and the reason", async () => {
    const home = await killedHome(3, 3);
    appendFileSync(join(home, A, "events.jsonl"), '{"seq":4,"prev":1,"sess');
    await (await homes.openLog(home)).close();
    const { code, out } = await cli(["log", "verify", "--home", home]);
    expect(code).toBe(0);
    expect(out).toContain("quarantine: 1 item\n");
    expect(out).toMatch(/ {2}agents-3f2a\S+, 23 bytes, from agents\/\S+ at \d+: torn: written again/);
  });

  test("a running daemon is detected, also through its lock record, and a dead one's record is ignored", async () => {
    const home = await closedHome(3);
    const release = homes.pretendDaemon(home);
    expect((await cli(["log", "verify", "--home", home])).out).toContain(`home: ${home} (a daemon is running)`);
    release();
    const record = { pid: 1, startTime: 1, bootId: "another boot" };
    writeFileSync(join(home, "run/daemon.lock"), JSON.stringify(record));
    expect(JSON.parse((await cli(["log", "verify", "--json", "--home", home])).out).running).toBe(false);
  });

  test("no check finds damage while a writer is constantly writing", async () => {
    const home = homes.emptyHome();
    const writer = homes.startWriter(home, "on");
    const found: unknown[] = [];
    await writer.stdout.getReader().read();
    for (let look = 0; look < 15; look++) {
      const { code, out } = await cli(["log", "verify", "--json", "--home", home]);
      if (code !== 0) found.push(JSON.parse(out).findings);
    }
    writer.stdin.end();
    await writer.exited;
    expect(found).toEqual([]);
  });

  test("an empty home is whole, and a missing one is not found", async () => {
    const home = homes.emptyHome();
    const empty = await cli(["log", "verify", "--home", home]);
    expect(empty).toMatchObject({ code: 0, err: "" });
    expect(empty.out).toContain("sessions: none yet");
    rejects(await cli(["log", "verify", "--home", join(home, "gone")]), 4, "There is no home at");
    expect(readdirSync(home)).toEqual([]);
  });
});

describe("log show", () => {
  test("events of all sessions are in seq order, drained or not", async () => {
    const home = await killedHome(100, 31);
    const { out, code, err } = await cli(["log", "show", "--home", home]);
    expect(seqs(out)).toEqual(Array.from({ length: 131 }, (_, i) => i + 1));
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  test("--json is one array; --from and --limit select; a session is found by a prefix of its id", async () => {
    const home = await killedHome(60, 30);
    const args = ["log", "show", "3f2b", "--json", "--from", "50", "--limit", "12", "--home", home];
    const entries = JSON.parse((await cli(args)).out);
    expect(entries.map(({ seq }: { seq: number }) => seq)).toEqual([50, 53, 56, 59, 62, 65, 68, 71, 74, 77, 80, 83]);
    expect(entries[0]).toEqual({
      seq: 50,
      prev: 47,
      session: B,
      session_id: B.slice(7),
      ts: "2026-01-02T03:04:05.678Z",
      event: "message.enqueued",
      data: { i: 49, text: "hello" },
    });
    expect((await cli(["log", "show", "--json", "--from", "91", "--home", home])).out).toBe("[]\n");
  });

  test("a line holds seq, local time, short id, event and all of the data", async () => {
    const home = await closedHome(1);
    const line = (time: string) => `1  ${time}  3f2a9c0d  message.enqueued      {"i":0,"text":"hello"}\n`;
    for (const command of ["show", "tail"]) {
      const shown = async (zone: string) => (await cli(["log", command, "--home", home], { TZ: zone })).out;
      expect(await shown("UTC")).toBe(line("2026-01-02 03:04:05 UTC"));
      expect(await shown("Asia/Kolkata")).toBe(line("2026-01-02 08:34:05 +05:30"));
    }
  });

  test("control characters in data, names and arguments are never printed raw", async () => {
    const home = homes.emptyHome();
    const log = await homes.openLog(home);
    log.append([homes.entry(A, "\u001b[2J\u009b31m\u202eevil\u2066\u007f\n", "x\u001b]0;t\u0007\n2")]);
    await log.close();
    const asked = await cli(["log", "show", "\u001b[31m\u009b", "--home", home]);
    const shown = await cli(["log", "show", "--home", home]);
    const json = await cli(["log", "show", "--json", "--home", home]);
    for (const text of [asked.err, shown.out, json.out]) {
      expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
    }
    expect(shown.out.split("\n")).toHaveLength(2);
    expect(JSON.parse(json.out)[0].data).toBe("\u001b[2J\u009b31m\u202eevil\u2066\u007f\n");
  });

  test("damage is skipped and reported on stderr", async () => {
    const home = await closedHome(30);
    harm(join(home, A, "events.jsonl"), "hello");
    const { out, err, code } = await cli(["log", "show", "--home", home]);
    expect(seqs(out)).toHaveLength(29);
    expect(err).toBe(
      `holdfast: the log of ${A} is damaged at 2 places; the damaged part was left out.\n  → holdfast log verify\n`,
    );
    expect(code).toBe(0);
  });

  test("a reader that closes the pipe early ends it quietly, with exit 0", async () => {
    const home = await closedHome(5000);
    const script = `"$0" src/cli/main.ts log show --home "$1"; echo "exit $?" >&2`;
    const command = ["sh", "-c", `{ ${script}; } | head -n 1`, process.execPath, home];
    const child = Bun.spawn(command, { cwd: join(import.meta.dir, "../.."), stdio: ["ignore", "pipe", "pipe"] });
    expect(await child.stdout.text()).toStartWith("   1  2026");
    expect(await child.stderr.text()).toBe("exit 0\n");
  });

  test("without sessions it says so, and prints no data", async () => {
    const { code, out, err } = await cli(["log", "show", "--home", homes.emptyHome()]);
    expect({ code, out, err }).toEqual({ code: 0, out: "", err: "holdfast: there are no sessions yet.\n" });
  });
});

describe("the requested session must exist and be unambiguous", () => {
  test("unknown and ambiguous sessions are exit 4, with a next step", async () => {
    const home = await closedHome(3);
    rejects(await cli(["log", "show", "zz", "--home", home]), 4, 'There is no session "zz".');
    rejects(await cli(["log", "tail", "3f2", "--home", home]), 4, '"3f2" matches 2: ');
    rejects(await cli(["log", "verify", "", "--home", home]), 4, "No name was given.");
    const { err } = await cli(["log", "show", "zz", "--json", "--home", home]);
    expect(JSON.parse(err)).toEqual({
      code: "unknown",
      message: 'There is no session "zz".',
      hint: "`holdfast log verify` lists the sessions.",
    });
  });

  test("an id that exists in two places needs the full name", async () => {
    const twin = `terminals/${A.slice(7)}`;
    const home = await closedHome(4, [A, twin]);
    rejects(await cli(["log", "show", "3f2a", "--home", home]), 4, `"3f2a" matches ${A}, ${twin}.`);
    expect(seqs((await cli(["log", "show", twin, "--home", home])).out)).toEqual([2, 4]);
  });

  test("the home comes from --home, HOLDFAST_HOME, or the XDG state directory", async () => {
    const home = await closedHome(1);
    const parent = homes.emptyHome();
    mkdirSync(join(parent, ".local/state/holdfast"), { recursive: true });
    const homeSeen = async (env: Record<string, string>, ...args: string[]) =>
      JSON.parse((await cli(["log", "verify", "--json", ...args], env)).out).home;
    expect(await homeSeen({ HOLDFAST_HOME: "/nowhere" }, "--home", `${home}/`)).toBe(home);
    expect(await homeSeen({ HOLDFAST_HOME: home, HOME: parent })).toBe(home);
    expect(await homeSeen({ XDG_STATE_HOME: join(parent, ".local/state"), HOME: "/nowhere" })).toBe(
      join(parent, ".local/state/holdfast"),
    );
    expect(await homeSeen({ HOLDFAST_HOME: "", XDG_STATE_HOME: "relative", HOME: parent })).toBe(
      join(parent, ".local/state/holdfast"),
    );
    rejects(await cli(["log", "verify"]), 4, "HOME is not set");
  });

  test("a disk error is exit 1, with the operation, the path and the reason", async () => {
    const home = await closedHome(1);
    mkdirSync(join(home, "wal/99999999.wal"));
    rejects(await cli(["log", "verify", "--home", home]), 1, `read ${home}/wal/99999999.wal: EISDIR`);
  });
});
