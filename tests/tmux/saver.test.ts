// A tmux session's checkpoint on a disk that forgets: the last save, or the one before, is always there, complete; and
// it contains what tmux reported, as far as tmux reported anything.
import { describe, expect, test } from "bun:test";
import { ok, type Result } from "../../src/base/result.ts";
import type { TmuxCall, TmuxRun } from "../../src/daemon/tmux/client.ts";
import { TmuxSaver } from "../../src/daemon/tmux/saver.ts";
import { parseSnapshot } from "../../src/wire/stored/tmux-snapshot.ts";
import { type ListedPane, listFormat, parseEnvironment, parseList } from "../../src/wire/tmux-list.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { SimProcesses } from "../sim/processes.ts";
import { SimRandom } from "../sim/random.ts";

const SOCKET = { path: "/s" };
const OPTIONS = { scrollbackLines: 100, environment: { allow: [], deny: [] } };

/** As `show-environment -s` prints it. */
const ENVIRONMENT = 'A="1"; export A;\nMY_TOKEN="hunter2"; export MY_TOKEN;\n';

function pane(changes: Partial<ListedPane> = {}): ListedPane {
  const session = { serverPid: 1, session: "$0", sessionName: "work", mark: "", attached: false };
  const window = { window: "@0", index: 0, windowName: "w", automatic: false, layout: "c195,80x24,0,0,0" };
  const flags = { windowActive: true, last: false, zoomed: false, active: true };
  const rest = { size: { cols: 80, rows: 24 }, activity: 0, pane: "%0", pid: 5, title: "t", directory: "/d" };
  const start = { startDirectory: "/start" };
  return { ...session, ...window, ...flags, ...rest, ...start, cursor: "0,0", history: "0,0", ...changes };
}

/** A tmux that answers what the test tells it to. */
class FakeTmux {
  text = "";
  broken = false;
  readonly calls: TmuxCall[] = [];
  answered: (name: string | undefined) => void = () => undefined;

  run: TmuxRun = async (call): Promise<Result<string>> => {
    this.calls.push(call);
    if (this.broken) return { ok: false, error: { code: "tmux-failed", message: "no", hint: "" } };
    const said = call.commands.map(([name, ...words]) => {
      if (name === "capture-pane") return `${this.text}\n\n\n`;
      return name === "display-message" ? `${words.at(-1)}\n` : ENVIRONMENT;
    });
    this.answered(call.commands[0]?.[0]);
    return ok(said.join(""));
  };
}

function saverOn(
  disk: SimDisk,
  tmux: FakeTmux,
  clock = new SimClock(),
  processes = withServer(), // Without the pane's: then only tmux's answer counts.
): TmuxSaver {
  const world = { disk, clock, random: new SimRandom(1), home: "/h", processes };
  return new TmuxSaver(tmux.run, world, OPTIONS, "c1");
}

function withServer(): SimProcesses {
  const processes = new SimProcesses();
  processes.spawn(1);
  return processes;
}

function textOf(saver: TmuxSaver): string | undefined {
  const saved = saver.load();
  return "snapshot" in saved ? saved.snapshot.windows[0]?.panes[0]?.scrollback : undefined;
}

test("a power cut at any call leaves the last save, or the one in progress, and the next life saves again", async () => {
  const start = new SimDisk();
  start.plant("/h/other", new Uint8Array(0));
  const save = async (disk: SimDisk, number: number) => {
    const tmux = new FakeTmux();
    tmux.text = `${number} ${"x".repeat(1500)}`;
    const saved = await saverOn(disk, tmux).save(SOCKET, [pane()]);
    expect(saved).toEqual(ok(true));
  };
  const live = async (disk: SimDisk, promised: (number: number) => void) => {
    for (const number of [1, 2, 3]) {
      await save(disk, number);
      promised(number);
    }
  };
  const check = async (disk: SimDisk, promised: number) => {
    const found = Number(textOf(saverOn(disk, new FakeTmux()))?.split(" ")[0] ?? 0);
    expect([promised, promised + 1]).toContain(found);
    await save(disk, 9);
    expect(textOf(saverOn(disk, new FakeTmux()))).toStartWith("9 ");
  };
  expect(await everyCrash({ start, nothingPromised: 0, live, check })).toBeGreaterThan(500);
});

test("a tmux that fails halfway replaces nothing, and no secret is kept", async () => {
  const [disk, tmux] = [new SimDisk(), new FakeTmux()];
  tmux.text = "good";
  const saver = saverOn(disk, tmux);
  await saver.save(SOCKET, [pane()]);
  tmux.broken = true;
  expect(await saver.save(SOCKET, [pane({ history: "9,9" })])).toMatchObject({ ok: false });
  expect(textOf(saver)).toBe("good");
  expect(saver.load()).toMatchObject({ snapshot: { environment: { A: "1" }, leftOut: ["MY_TOKEN"] } });
});

function paneOf(saver: TmuxSaver) {
  const saved = saver.load();
  return "snapshot" in saved ? saved.snapshot.windows[0]?.panes[0] : undefined;
}

test("an empty directory replaces none, in this life and the next; a pane without one gets its start directory", async () => {
  const disk = new SimDisk();
  const saver = saverOn(disk, new FakeTmux());
  await saver.save(SOCKET, [pane({ directory: "", title: "first" })]);
  expect(paneOf(saver)).toMatchObject({ directory: "/start", title: "first" });
  await saver.save(SOCKET, [pane({ directory: "/good", title: "second" })]);
  await saver.save(SOCKET, [pane({ directory: "", title: "third" })]);
  expect(paneOf(saver)).toMatchObject({ directory: "/good", title: "third" });
  const next = saverOn(disk, new FakeTmux());
  await next.save(SOCKET, [pane({ directory: "", title: "fourth" })]);
  expect(paneOf(next)).toMatchObject({ directory: "/good", title: "fourth" });
  await next.save(SOCKET, [pane({ index: 7, directory: "", title: "in another window" })]);
  expect(paneOf(next)).toMatchObject({ directory: "/start", title: "in another window" });
});

test("on a later server, a pane with the same number is another one, also for the next daemon", async () => {
  const disk = new SimDisk();
  const saver = saverOn(disk, new FakeTmux());
  await saver.save(SOCKET, [pane({ directory: "/good" })]);
  const saved = saver.load();
  if (!("snapshot" in saved)) throw new Error(saved.reason);
  await saver.keepBefore(saved);
  const next = saverOn(disk, new FakeTmux()); // The first one died before it has saved the new session.
  await next.save(SOCKET, [pane({ directory: "", title: "another" })]);
  expect(paneOf(next)).toMatchObject({ directory: "/start", title: "another" });
  await saver.save(SOCKET, [pane({ directory: "", title: "a third" })]);
  expect(paneOf(saver)).toMatchObject({ directory: "/start", title: "a third" });
});

describe("a new pane that is still a copy of tmux", () => {
  const COPY = { argv: ["tmux", "new", "-d"], cwd: "/", ageMs: 0 };

  function forked() {
    const [clock, processes] = [new SimClock(), new SimProcesses()];
    const [server, own] = [processes.spawn(1).pid, processes.spawn(5).pid];
    for (const pid of [server, own]) processes.putInFront(pid, { pid, ...COPY });
    const saver = saverOn(new SimDisk(), new FakeTmux(), clock, processes);
    /** One round of the saver after the other, until it is done. */
    const save = async (look: (number: number) => void) => {
      let done = false;
      const saved = saver.save(SOCKET, [pane({ directory: "/", pid: own })]).finally(() => {
        done = true;
      });
      for (let number = 1; ; number += 1) {
        await new Promise<void>((turn) => clock.soon(turn));
        if (done) return saved;
        look(number);
        clock.advance(5);
      }
    };
    return { clock, processes, own, saver, save };
  }

  test("is waited for, and its own program and directory are saved", async () => {
    const { clock, processes, own, saver, save } = forked();
    const begin = () => processes.putInFront(own, { pid: own, argv: ["vim", "a"], cwd: "/p", ageMs: 0 });
    expect(await save((number) => number === 3 && begin())).toEqual(ok(true));
    expect(clock.elapsed()).toBe(15);
    expect(paneOf(saver)).toMatchObject({ directory: "/p", command: ["vim", "a"] });
  });

  test("is not waited for if it ends, nor for long; its command is not saved", async () => {
    const ended = forked();
    await ended.save((number) => number === 2 && ended.processes.exit(ended.own));
    expect(ended.clock.elapsed()).toBe(10);
    const stuck = forked();
    await stuck.save(() => undefined);
    expect(stuck.clock.elapsed()).toBe(1_000);
    for (const { saver } of [ended, stuck]) expect(paneOf(saver)).toMatchObject({ directory: "/", command: [] });
    const before = stuck.clock.elapsed();
    await stuck.save(() => undefined); // Once is enough.
    expect(stuck.clock.elapsed()).toBe(before);
  });
});

test("S5 a server that is killed while it is saved replaces nothing", async () => {
  const [tmux, processes] = [new FakeTmux(), withServer()];
  const own = processes.spawn(5).pid;
  processes.putInFront(own, { pid: own, argv: ["vim", "a"], cwd: "/p", ageMs: 0 });
  const saver = saverOn(new SimDisk(), tmux, new SimClock(), processes);
  expect(await saver.save(SOCKET, [pane({ pid: own })])).toEqual(ok(true));
  tmux.answered = (name) => {
    if (name === "show-environment") for (const pid of [own, 1]) processes.exit(pid);
  };
  expect(await saver.save(SOCKET, [pane({ pid: own, title: "later" })])).toMatchObject({ ok: false });
  expect(paneOf(saver)).toMatchObject({ title: "t", command: ["vim", "a"] });
});

test("unchanged text is not read again; text printed in the second of a round is", async () => {
  const [tmux, clock] = [new FakeTmux(), new SimClock()];
  const saver = saverOn(new SimDisk(), tmux, clock);
  const now = Math.floor(clock.now() / 1000);
  await saver.save(SOCKET, [pane({ activity: now - 100 })]);
  const calls = tmux.calls.length;
  expect(await saver.save(SOCKET, [pane({ activity: now - 100 })])).toEqual(ok(false));
  expect(tmux.calls.length).toBe(calls);
  tmux.text = "late";
  await saver.save(SOCKET, [pane({ activity: now })]);
  tmux.text = "later";
  expect(await saver.save(SOCKET, [pane({ activity: now })])).toEqual(ok(true));
  expect(textOf(saver)).toBe("later");
});

test("a session that was never saved, or whose checkpoint has another shape, is reported as such", async () => {
  const saver = saverOn(new SimDisk(), new FakeTmux());
  expect(saver.load()).toEqual({ reason: "nothing of it was saved yet" });
  const good = { name: "n", environment: {}, leftOut: [], windows: [] };
  for (const bad of [
    null,
    [],
    {},
    good,
    { ...good, windows: [{}] },
    { ...good, environment: { A: 1 }, windows: [1] },
  ]) {
    expect(parseSnapshot(bad)).toBeUndefined();
  }
});

test("a listing is read completely or not at all, whatever names contain", () => {
  const word = "0badc0de";
  const fields = listFormat(word).split(`${word}-`).length - 1;
  const record = (...values: string[]) => `${word}+${values.join(`${word}-`)}${word}-\n`;
  const values = Array.from({ length: fields }, () => "1");
  values[1] = "$1";
  values[2] = "new\nline\t|";
  values[5] = "@1";
  values[9] = "c195,80x24,0,0,0";
  expect(parseList(record(...values), word)).toMatchObject([
    { session: "$1", sessionName: "new\nline\t|", window: "@1" },
  ]);
  const dead = values.with(values.length - 2, "1").with(18, "77");
  const living = dead.with(values.length - 2, "0");
  expect([dead, living].map((each) => parseList(record(...each), word)?.[0]?.pid)).toEqual([0, 77]);
  expect(parseList("", word)).toEqual([]);
  expect(parseList(record(...values) + record("1"), word)).toBeUndefined();
  for (const [at, bad] of [
    [0, "x"],
    [1, "1"],
    [9, "tiled"],
  ] as const) {
    expect(parseList(record(...values.with(at, bad)), word)).toBeUndefined();
  }
});

test("an environment is its variables: no line of a value is mistaken for another one, or a secret could be stored", () => {
  const said = [
    'A="1"; export A;',
    "unset REMOVED;",
    'B="x=y"; export B;',
    'BASH_FUNC_f%%="() {\n  local z=1\n}"; export BASH_FUNC_f%%;',
    'PEM_KEY="-----BEGIN\nabcd=hunter2\nQQ==\nC=\\"5\\"; export C;\n"; export PEM_KEY;',
    'D="\\$HOME \\`x\\` \\\\ \\"q\\""; export D;',
  ];
  const pem = '-----BEGIN\nabcd=hunter2\nQQ==\nC="5"; export C;\n';
  expect(parseEnvironment(`${said.join("\n")}\n`)).toEqual({ A: "1", B: "x=y", PEM_KEY: pem, D: '$HOME `x` \\ "q"' });
  expect(parseEnvironment('A="1"; export A;\nrubbish\nB="2"; export B;\n')).toEqual({ A: "1" });
  expect(parseEnvironment("")).toEqual({});
});
