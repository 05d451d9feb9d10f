// A tmux session's checkpoint over a disk that forgets: what was saved last, or just before, is always there, whole; and what is saved
// is what tmux said, as far as it said something.
import { expect, test } from "bun:test";
import { ok, type Result } from "../../src/base/result.ts";
import type { TmuxCall, TmuxRun } from "../../src/daemon/tmux/client.ts";
import { TmuxSaver } from "../../src/daemon/tmux/saver.ts";
import { parseSnapshot } from "../../src/wire/stored/tmux-snapshot.ts";
import { type ListedPane, listFormat, parseEnvironment, parseList } from "../../src/wire/tmux-list.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
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
  return { ...session, ...window, ...flags, ...rest, cursor: "0,0", history: "0,0", ...changes };
}

/** Another side that says what it is told to. */
class FakeTmux {
  text = "";
  broken = false;
  readonly calls: TmuxCall[] = [];

  run: TmuxRun = async (call): Promise<Result<string>> => {
    this.calls.push(call);
    if (this.broken) return { ok: false, error: { code: "tmux-failed", message: "no", hint: "" } };
    const said = call.commands.map(([name, ...words]) => {
      if (name === "capture-pane") return `${this.text}\n\n\n`;
      return name === "display-message" ? `${words.at(-1)}\n` : ENVIRONMENT;
    });
    return ok(said.join(""));
  };
}

function saverOn(disk: SimDisk, tmux: FakeTmux, clock = new SimClock()): TmuxSaver {
  const world = { disk, clock, random: new SimRandom(1), home: "/h", processes: { foreground: () => undefined } };
  return new TmuxSaver(tmux.run, world, OPTIONS, "c1");
}

function textOf(saver: TmuxSaver): string | undefined {
  const saved = saver.load();
  return "snapshot" in saved ? saved.snapshot.windows[0]?.panes[0]?.scrollback : undefined;
}

test("a power cut at any call leaves the last saved one, or the one being saved, and the next life saves again", async () => {
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

test("a tmux that fails in the middle replaces nothing, and no secret is kept", async () => {
  const [disk, tmux] = [new SimDisk(), new FakeTmux()];
  tmux.text = "good";
  const saver = saverOn(disk, tmux);
  await saver.save(SOCKET, [pane()]);
  tmux.broken = true;
  expect(await saver.save(SOCKET, [pane({ history: "9,9" })])).toMatchObject({ ok: false });
  expect(textOf(saver)).toBe("good");
  expect(saver.load()).toMatchObject({ snapshot: { environment: { A: "1" }, leftOut: ["MY_TOKEN"] } });
});

test("what did not change is not read again; what was said in the second of a look is", async () => {
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

test("a session that was never saved, or whose checkpoint is of another shape, says so", async () => {
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

test("a listing is read whole or not at all, whatever names hold", () => {
  const word = "0badc0de";
  const fields = listFormat(word).split("#{").length - 1;
  const record = (...values: string[]) => `${word}+${values.join(`${word}-`)}${word}-\n`;
  const values = Array.from({ length: fields }, () => "1");
  values[1] = "$1";
  values[2] = "new\nline\t|";
  values[5] = "@1";
  values[9] = "c195,80x24,0,0,0";
  expect(parseList(record(...values), word)).toMatchObject([
    { session: "$1", sessionName: "new\nline\t|", window: "@1" },
  ]);
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

test("an environment is its variables: no line of a value passes for another one, or a secret's would be stored", () => {
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
