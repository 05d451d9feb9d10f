// A year of a whole daemon in the simulated world, with the retention that it has by default, except that the logs of
// what never ends have less room. Every day (in the gate every eighth) runs, a terminal and an agent are made and
// ended; another agent and an iterative run never end. Memory, log and disk stay within their bounds. So do a terminal
// that gets another name each day, a tmux session and a bare LLM, whose logs are kept whole: those of the first two
// have only what people do, that of the last one is its conversation.
// The machine is stopped for most of each day, as a virtual one is: rounds and garbage collection are late.
import { expect, test } from "bun:test";
import { ITERATIONS_KEPT } from "../../src/core/workflow/limits.ts";
import { LogView } from "../../src/log/inspect.ts";
import { segmentsIn } from "../../src/log/session/log-segments.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { AGENT, HoldfastMachine } from "../sim/holdfast/machine.ts";
import { idOf } from "../sim/holdfast/script.ts";
import { Site } from "../sim/holdfast/site.ts";
import { SimTmux, TMUX_SOCKET } from "../sim/holdfast/tmux/client.ts";
import { HOME } from "../sim/machine.ts";

const SESSION_BYTES = 4_096;
const LOG_BYTES = 40_000;
const SETTINGS = `[log]
segment_bytes = 2097152
ballast_bytes = 0
session_bytes = ${SESSION_BYTES}
[retention]
log_bytes = ${LOG_BYTES}
[provider.model]
kind = "openai"
model = "sim"
`;
const DAYS = 400;
/** One in so many days is worked on. */
const STRIDE = amount(8, 1);
/** `archive_days`, and a gc that is late. */
const KEPT = Math.ceil(366 / STRIDE) + 1;
/** `agent_days`. */
const KEPT_AGENTS = Math.ceil(31 / STRIDE) + 1;
const DAY = 86_400_000;
const LIMIT_MS = 900_000;
const SET = "steps:\n  - set: { a: 1 }\n";
/** About four iterations a day. */
const ENDLESS = `mode: iterative
max_iterations: 100000
steps:
  - id: one
    shell: work fail-2
    retry: { attempts: 3, backoff: 1s }
`;
/** More than the iterations of a day: gc comes once a day, or later. */
const A_DAY = 8;
/** Of each iteration. */
const TRIES = 3;
const FAILS = "steps:\n  - id: one\n    shell: work fail\n";
/** To the agent that never ends, a day. */
const MESSAGES = 4;
const LOG = /^events/;
/** What is written until two checkpoints have it (32 KiB each, for an agent), and in the days until the next gc. */
const UNCOVERED_BYTES = 110_000;
const TMUX = { argv: ["tmux", "new", "-d"], env: { HOME: "/u", SHELL: "/bin/sh", PATH: "/bin" } };
const ADOPT = {
  path: TMUX_SOCKET,
  name: null,
  directory: null,
  all: false,
  sessions: ["work"],
  policy: "auto",
} as const;
/** What a new name takes in the log of a terminal, or a turn in that of a bare LLM. */
const EVENT_BYTES = 400;
const TURN_BYTES = 4_000;
const TERMINAL = { lane: "main", argv: ["/bin/sh"], cwd: "/u", env: {}, cols: 80, rows: 24 };

type Lasting = { readonly terminal: string; readonly tmux: string; readonly model: string };

class Year extends Site {
  readonly #tmux: SimTmux;
  #number = 0;
  #days = 0;

  constructor() {
    super(new HoldfastMachine(1, SETTINGS));
    this.#tmux = new SimTmux(this.machine, 0);
    this.machine.tmux = this.#tmux;
    this.machine.disk.plant("/u/good.yml", Buffer.from(SET));
    this.machine.disk.plant("/u/bad.yml", Buffer.from(FAILS));
    this.machine.disk.plant("/u/endless.yml", Buffer.from(ENDLESS));
  }

  async run(name: string): Promise<string> {
    this.#number += 1;
    const id = idOf(this.#number);
    await this.ask("workflow.run", { id, path: `/u/${name}.yml`, cwd: "/u", texts: {}, values: {}, env: {} });
    return id;
  }

  /** An agent and a run that never end. */
  async endless(): Promise<{ readonly agent: string; readonly run: string }> {
    this.#number += 1;
    const agent = idOf(this.#number);
    await this.agent(agent);
    return { agent, run: await this.run("endless") };
  }

  /** What lives for the whole year, and keeps its whole log. */
  async lasting(): Promise<Lasting> {
    const terminal = (await this.ask("terminal.new", { name: "day-0", ...TERMINAL })).id;
    this.#tmux.begin(TMUX).newSession("work", { cols: 80, rows: 24 }, { cwd: "/u", argv: [] });
    await this.ask("tmux.adopt", ADOPT);
    const [tmux] = await this.ask("tmux.list", {});
    this.#number += 1;
    const model = idOf(this.#number);
    await this.agent(model, "model", []);
    return { terminal, tmux: tmux?.id ?? "", model };
  }

  async passDay({ terminal, model }: Lasting): Promise<void> {
    this.#days += 1;
    await this.ask("terminal.rename", { id: terminal, name: `day-${this.#days}` });
    this.#number += 1;
    await this.ask("agent.send", { id: model, message: idOf(this.#number), text: `<${this.#days}>`, replyTo: null });
  }

  /** Whether the last request to the model has everything that it was ever told. */
  remembers(): boolean {
    const said = JSON.stringify(this.machine.model.asked.at(-1));
    return Array.from({ length: this.#days }, (_, at) => `<${at + 1}>`).every((word) => said.includes(word));
  }

  async talk(agent: string): Promise<void> {
    for (let count = 0; count < MESSAGES; count += 1) {
      this.#number += 1;
      const message = { id: agent, message: idOf(this.#number), replyTo: null };
      await this.ask("agent.send", { ...message, text: `>> note ${"long ".repeat(500)}` });
    }
  }

  /** The size of the files of a session whose names match. */
  bytes(session: string, names: RegExp): number {
    const found = this.names(session).filter((name) => names.test(name));
    return found.reduce((sum, name) => sum + (this.machine.disk.stat(`${HOME}/${session}/${name}`)?.size ?? 0), 0);
  }

  async day(): Promise<void> {
    await this.run("good");
    await this.run("bad");
    const terminal = await this.ask("terminal.new", { name: "t", ...TERMINAL });
    this.#number += 1;
    const agent = idOf(this.#number);
    await this.agent(agent, "scripted", [AGENT]);
    await this.machine.during(this.client.sleep(500));
    await this.ask("terminal.signal", { id: terminal.id, signal: "SIGKILL" });
    await this.ask("agent.terminate", { id: agent, reason: "the day is over" });
    await this.machine.during(this.client.sleep(1500));
    await this.ask("terminal.remove", { id: terminal.id });
    this.machine.suspend(STRIDE * DAY, true);
    await this.machine.during(this.client.sleep(12_000));
  }

  names(place: string): string[] {
    return this.machine.disk.list(`${HOME}/${place}`);
  }

  alive(place: string): number {
    return this.names(place).filter((name) => !name.startsWith("_")).length;
  }
}

test(
  "a year with default retention stays within its bounds in memory and on disk",
  async () => {
    const site = new Year();
    await site.live();
    const first = await site.run("good");
    const { agent, run } = await site.endless();
    const lasting = await site.lasting();
    const whole = [`terminals/${lasting.terminal}`, `tmux/${lasting.tmux}`, `agents/${lasting.model}`];
    const open = [`agents/${agent}`, `state/u/sessions/${run}`];
    let logs: readonly number[] = [];
    let states: readonly number[] = [];
    let attempts = 0;
    let firstAgent = "";
    let most = { runs: 0, terminals: 0, agents: 0 };
    for (let day = STRIDE; day <= DAYS; day += STRIDE) {
      await site.talk(agent);
      await site.passDay(lasting);
      await site.day();
      const now = open.map((session) => site.bytes(session, LOG));
      logs = now.map((bytes, at) => Math.max(bytes, logs[at] ?? 0));
      const sizes = open.map((session) => site.bytes(session, /^checkpoint\.json$/));
      states = sizes.map((bytes, at) => Math.max(bytes, states[at] ?? 0));
      attempts = Math.max(attempts, site.names(`${open[1]}/attempts`).length);
      // What is not archived is what the store and the log have in memory.
      most = {
        runs: Math.max(most.runs, site.alive("state/u/sessions")),
        terminals: Math.max(most.terminals, site.alive("terminals")),
        agents: Math.max(most.agents, site.alive("agents")),
      };
      const isLate = day > 300 && day <= 300 + STRIDE;
      firstAgent ||= site.names("agents").find((name) => name.startsWith("_")) ?? "";
      if (day === STRIDE * 3)
        expect(await site.ask("agent.show", { id: firstAgent.slice(1) })).toMatchObject({ state: "terminated" });
      if (isLate) expect(await site.ask("workflow.show", { id: first, from: 0 })).toMatchObject({ state: "done" });
    }
    for (const [at, session] of open.entries()) {
      expect(logs[at]).toBeLessThanOrEqual(LOG_BYTES + UNCOVERED_BYTES);
      const { trimmed, segments } = segmentsIn(site.machine.disk, `${HOME}/${session}`);
      expect(trimmed).toBeGreaterThan((segments.at(-1)?.last ?? 0) / 2);
    }
    for (const state of states) expect(state).toBeLessThan(64 << 10);
    const { iteration } = await site.ask("workflow.show", { id: run, from: 0 });
    expect(iteration).toBeGreaterThan(3 * ITERATIONS_KEPT);
    expect(attempts).toBeLessThanOrEqual(TRIES * (2 * ITERATIONS_KEPT + STRIDE * A_DAY));
    expect(most.runs).toBeLessThanOrEqual(6);
    expect(most.terminals).toBeLessThanOrEqual(6);
    expect(most.agents).toBeLessThanOrEqual(4); // Also the rules.
    expect(site.names("agents").length).toBeLessThanOrEqual(KEPT_AGENTS + 4);
    const days = DAYS / STRIDE;
    const [terminal = 0, tmux = 0, model = 0] = whole.map((session) => site.bytes(session, LOG));
    expect(terminal).toBeLessThanOrEqual((days + 5) * EVENT_BYTES);
    expect(tmux).toBeLessThanOrEqual(5 * EVENT_BYTES);
    expect(model).toBeLessThanOrEqual((days + 5) * TURN_BYTES);
    expect(site.names("agents")).not.toContain(firstAgent);
    expect(site.names("state/u/sessions").length).toBeLessThanOrEqual(2 * KEPT + 6);
    expect(site.names("terminals").length).toBeLessThanOrEqual(KEPT + 6);
    const listed = await site.ask("workflow.list", {});
    expect(listed.length).toBeGreaterThan(2 * (KEPT - 7));
    expect(listed.length).toBeLessThanOrEqual(2 * KEPT + 6);
    expect(listed.find(({ id }) => id === first)).toBeUndefined();
    const before = await site.ask("agent.list", {});
    await site.again();
    expect((await site.ask("workflow.list", {})).length).toBe(listed.length);
    expect(await site.ask("workflow.show", { id: run, from: 0 })).toMatchObject({ state: "running" });
    expect(await site.ask("agent.list", {})).toMatchObject(before.map(({ id, turns }) => ({ id, turns })));
    await site.passDay(lasting);
    await site.machine.during(site.client.sleep(3_000));
    expect(site.remembers()).toBe(true);
    const inspection = new LogView(site.machine.disk, HOME).inspect(open);
    expect(inspection.findings).toEqual([]);
    expect(inspection.sessions.every(({ trimmed }) => trimmed > 0)).toBe(true);
    const kept = new LogView(site.machine.disk, HOME).inspect(whole);
    expect([kept.findings, kept.sessions.map(({ trimmed }) => trimmed)]).toEqual([[], [0, 0, 0]]);
  },
  LIMIT_MS,
);
