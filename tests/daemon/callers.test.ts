// Who is behind a connection (home/callers.ts): claims, locks and markers on a real disk, with a process table of the
// test.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readAll } from "../../scripts/files.ts";
import { RIGHTS } from "../../src/core/principal.ts";
import { attemptsSince, noteAttempt } from "../../src/home/attempts.ts";
import { Callers } from "../../src/home/callers.ts";
import { homeId } from "../../src/home/held/home-id.ts";
import { PARAMS } from "../../src/wire/rpc/params.ts";
import type { Kin, Kinship } from "../../src/world/process.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import type { Connection, Peer } from "../../src/world/socket.ts";

const BOOT = "this boot";
const [AGENT, TERMINAL] = ["a".repeat(32), "b".repeat(32)];
const homes: string[] = [];

afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

type Row = Partial<Kin> & { readonly variables?: Readonly<Record<string, string>> };

class Place {
  readonly home = mkdtempSync(join(tmpdir(), "hfca-"));
  readonly #table = new Map<number, Row>();
  readonly callers: Callers;

  constructor() {
    homes.push(this.home);
    for (const name of ["run", "recovery", `agents/${AGENT}/processes/1`, `terminals/${TERMINAL}`])
      mkdirSync(join(this.home, name), { recursive: true });
    const processes: Kinship = {
      pid: 1,
      bootId: () => BOOT,
      startTime: (pid) => this.#kin(pid)?.startTime,
      kin: (pid) => this.#kin(pid),
      executable: (pid) => (this.#table.has(pid) ? `/bin/p${pid}` : null),
      parent: () => 0,
      variable: (pid, name) => this.#table.get(pid)?.variables?.[name],
    };
    this.callers = new Callers({ disk: realDisk(), clock: realClock(), processes }, this.home);
  }

  #kin(pid: number): Kin | undefined {
    const row = this.#table.get(pid);
    return row && { pid, ppid: 1, startTime: pid, tty: null, argv: [], ...row };
  }

  put(pid: number, row: Row = {}): this {
    this.#table.set(pid, row);
    return this;
  }

  file(name: string, value: object): this {
    writeFileSync(join(this.home, name), JSON.stringify(value));
    return this;
  }

  claim(place: string, pid: number, changes: object = {}): this {
    const claim = { v: 1, generation: 1, by: "holder", pid, startTime: pid, bootId: BOOT, at: "now", ...changes };
    return this.file(`${place}/claim.json`, claim);
  }

  who(peer: Peer | undefined) {
    return this.callers.of({ peer: () => peer } as unknown as Connection);
  }
}

const AGENTS_PLACE = `agents/${AGENT}/processes/1`;

const HOLDER = "/h/run/bin/holder-0123456789ab.js";

test("CA1 below a holder of an agent of this home is the agent, also if its claim is gone", () => {
  const place = new Place().put(1, { ppid: 0 });
  place.put(20, { argv: ["bun", HOLDER, `/elsewhere/${AGENTS_PLACE}`] }).put(30, { ppid: 20, tty: "/dev/pts/1" });
  expect(place.who(30)).toEqual({ principal: "agent", agent: AGENT, pid: 30, exe: "/bin/p30", tty: "/dev/pts/1" });
  place.put(20, { argv: ["ls", `/h/${AGENTS_PLACE}`] }); // No holder.
  expect(place.who(30).principal).toBe("operator");
  place.put(20, { argv: ["bun", HOLDER, `/h/agents/${"d".repeat(32)}/processes/1`] }); // Of another home.
  expect(place.who(30).principal).toBe("operator");
});

test("CA1 a terminal's holder, the daemon and the watchdog end the walk, wherever they were started", () => {
  const place = new Place().put(1, { ppid: 0 });
  place
    .put(20, { argv: [HOLDER, `/h/${AGENTS_PLACE}`] })
    .put(40, { ppid: 20, argv: [HOLDER, `/h/terminals/${TERMINAL}`] });
  place.put(50, { ppid: 40 }).put(60, { ppid: 20 }).put(70, { ppid: 60 });
  const all = () => [50, 60, 70].map((pid) => place.who(pid).principal);
  expect(all()).toEqual(["agent", "agent", "agent"]); // It only says that it is a terminal's.
  place.claim(`terminals/${TERMINAL}`, 40);
  expect(all()).toEqual(["operator", "agent", "agent"]);
  place.claim(`terminals/${TERMINAL}`, 40, { startTime: 39 }); // The pid was reused.
  expect(all()).toEqual(["agent", "agent", "agent"]);
  place.claim(`terminals/${TERMINAL}`, 40, { bootId: "another boot" });
  expect(all()).toEqual(["agent", "agent", "agent"]);
  place.file("run/daemon.lock", { pid: 60, startTime: 60, bootId: BOOT });
  expect(all()).toEqual(["agent", "operator", "operator"]);
});

test("CA1 a process below an agent CLI in a terminal of this home is an agent's; in a home that had one, all are looked at", () => {
  const place = new Place().put(1, { ppid: 0 });
  place.put(40, { argv: [HOLDER, `/h/terminals/${TERMINAL}`] }).claim(`terminals/${TERMINAL}`, 40);
  place.put(50, { ppid: 40, argv: ["-bash"] }).put(60, { ppid: 50, argv: ["node", "/usr/bin/claude"] });
  place.put(70, { ppid: 60, argv: ["sh", "-c", "holdfast answer"] });
  expect(place.who(70)).toMatchObject({ principal: "agent", cli: "claude", pid: 70 });
  expect(place.who(50).principal).toBe("operator");
  place.put(40, { argv: ["bash"] }); // It runs elsewhere, in a window of the user's own.
  expect(place.who(70).principal).toBe("operator");
  rmSync(join(place.home, "agents"), { recursive: true });
  expect(place.callers.hasAgents).toBe(false);
  expect(place.file("recovery/agents-typed", {}).callers.hasAgents).toBe(true);
});

test("CA2 a marker of an agent of this home counts; one of another home, a terminal or an attempt does not", () => {
  const place = new Place().put(1, { ppid: 0 });
  const marked = (terminal: string, home = homeId(realDisk(), place.home) ?? "") => {
    place.put(30, { variables: { HOLDFAST_TERMINAL: terminal, HOLDFAST_HOME_ID: home } });
    return place.put(40, { ppid: 30 }).who(40).principal;
  };
  expect(marked(`${AGENT}.1`)).toBe("agent");
  expect(marked(`${AGENT}.1`, "another home")).toBe("operator");
  expect(marked(TERMINAL)).toBe("operator");
  expect(marked(`${"c".repeat(32)}.1`)).toBe("operator");
});

test("a client that is gone is unknown, and one that the system does not name is the operator", () => {
  const place = new Place();
  expect([place.who("gone"), place.who(99), place.who(undefined)].map(({ principal }) => principal)).toEqual([
    "unknown",
    "unknown",
    "operator",
  ]);
});

test("an agent's attempt is recorded; AT1 the record is bounded, and unreadable lines are left out", () => {
  const place = new Place().put(1, { ppid: 0 }).put(20, { argv: [HOLDER, `/h/${AGENTS_PLACE}`] });
  expect(place.callers.refusal(place.who(1), "gc")).toBeUndefined();
  expect(place.callers.refusal(place.who("gone"), "gc")?.code).toBe("not-allowed");
  expect(place.callers.refusal(place.who(20), "rule.add")?.code).toBe("not-allowed");
  const caller = { principal: "agent", agent: AGENT, pid: 20, exe: "/bin/p20", tty: null } as const;
  expect(attemptsSince(realDisk(), place.home, 0)).toMatchObject([{ did: "rule.add", caller }]);
  expect(attemptsSince(realDisk(), place.home, realClock().now() + 1000)).toEqual([]);
  const at = "2026-01-01T00:00:00.000Z";
  for (let n = 0; n < 2000; n++) noteAttempt(realDisk(), place.home, { caller, did: `try ${n}`, at });
  writeFileSync(join(place.home, "recovery/attempts.jsonl"), "not json\n[]\n{}\n", { flag: "a" });
  const found = attemptsSince(realDisk(), place.home, 0);
  expect(found.at(-1)?.did).toBe("try 1999");
  expect(found.length).toBeLessThan(1000);
});

test("every method of the daemon has a row, and what changes something is not among what everyone may ask", () => {
  expect(Object.keys(RIGHTS).sort()).toEqual(Object.keys(PARAMS).sort());
  const sources = readAll("src/daemon/**/*.ts").map(({ text }) => text);
  const changing = sources.flatMap((text) =>
    [...text.matchAll(/\b(?:changing|ofAgent|ofRun)\("([a-z.-]+)"/g)].map(([, method]) => method ?? ""),
  );
  expect(changing.length).toBeGreaterThan(25);
  const rights: Readonly<Record<string, string>> = RIGHTS;
  expect(changing.filter((method) => rights[method] !== "act" && rights[method] !== "tool")).toEqual([]);
});
