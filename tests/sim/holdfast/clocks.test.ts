// The whole daemon while the wall clock is set, the machine sleeps, or both happen between two lives: whatever waits
// happens when it would have happened without that, by the clock that never jumps.
import { expect, test } from "bun:test";
import { LogView } from "../../../src/log/inspect.ts";
import { logsOf } from "../../agent/sim-oracle.ts";
import { HOME } from "../machine.ts";
import { Client } from "./client.ts";
import { AGENT, HoldfastMachine } from "./machine.ts";
import { idOf } from "./script.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;
const STEP_MS = 1_000;
/** All that is waited for here is over by then. */
const ALL_MS = 700_000;
/** Looks are a second apart, and a restart takes some seconds. */
const LATE_MS = 4_000;

const FLOW = `name: waits
steps:
  - id: tried
    shell: work fail-2
    retry: {attempts: 3, backoff: 6s}
  - id: slow
    shell: work never
    timeout: 600s
`;

const WAITED_FOR = [
  ...["workflow.step.retrying", "workflow.attempt.stop.requested", "workflow.ended"],
  ...["process.stopping", "process.rested", "agent.woken", "prompt.answered"],
];
/** Of the agent that hangs, the one that has used up what it may use, and the step that never ends. */
const HUNG = "1 process.";
const SLEPT = "2 agent.woken 1";
const TIMEOUT = "9 workflow.attempt.stop.requested 1";

/** Something that happens so many milliseconds after the beginning; `ends`: the daemon, and the next one begins. */
type Blow = { readonly at: number; readonly ends?: true; strike(machine: HoldfastMachine): void };

/** When each thing happened that somebody waited for, in milliseconds since the beginning. */
type Happened = Readonly<Record<string, number>>;

class Waits extends HoldfastMachine {
  readonly happened: Record<string, number> = {};
  #began = 0;
  /** Whether the log was written since it was last read, which costs far more than a quiet second. */
  #isWritten = true;
  override moment = (what: string): void => {
    if (what.includes("/wal/")) this.#isWritten = true;
  };

  async live(...blows: readonly Blow[]): Promise<Happened> {
    this.disk.plant("/u/waits.yml", Buffer.from(FLOW));
    let daemon = this.begin();
    const client = new Client(this);
    await this.#until(client.live());
    this.#began = this.clock.elapsed();
    await this.#until(this.#ask(client));
    for (const { at, ends, strike } of blows) {
      while (this.clock.elapsed() - this.#began < at) await this.#pass();
      if (ends === true) daemon.born.life.end();
      strike(this);
      if (ends === true) daemon = this.begin();
    }
    while (this.clock.elapsed() - this.#began < ALL_MS) await this.#pass();
    return this.happened;
  }

  async #ask(client: Client): Promise<void> {
    await client.ask("workflow.run", { id: idOf(9), path: "/u/waits.yml", cwd: "/u", texts: {}, values: {}, env: {} });
    await this.#agent(client, 1, "hang hard");
    await this.#agent(client, 2, "limit 400");
    await this.#agent(client, 3, "ask Bash x");
    await this.#agent(client, 4, "crash");
  }

  async #agent(client: Client, number: number, order: string): Promise<void> {
    const nothing = { parent: null, model: null, systemPrompt: "", env: {}, flags: [], permissionMode: null };
    const settings = { prompt_default: { after_ms: 500_000, decision: "deny" as const }, sleep_on_limit: true };
    await client.ask("agent.new", {
      ...{ ...nothing, id: idOf(number), name: `a-${number}`, cwd: "/u", settings },
      ...{ instructions: `>> ${order}`, provider: "scripted", command: [AGENT] },
    });
  }

  async #until(promise: Promise<void>): Promise<void> {
    let settled = false;
    const done = () => {
      settled = true;
    };
    void promise.then(done, done);
    while (!settled) await this.#pass();
    await promise;
  }

  async #pass(): Promise<void> {
    const until = this.clock.elapsed() + STEP_MS;
    while (this.clock.elapsed() < until) {
      await this.clock.settle();
      if (this.trouble !== undefined) throw this.trouble;
      const next = Math.min(until, this.clock.nextTimer ?? until);
      this.clock.advance(Math.max(0, next - this.clock.elapsed()));
    }
    await this.clock.settle();
    this.#note();
  }

  #note(): void {
    if (!this.#isWritten) return;
    this.#isWritten = false;
    for (const [session, entries] of logsOf(new LogView(this.disk, HOME))) {
      const counts = new Map<string, number>();
      for (const { event } of entries) {
        if (!WAITED_FOR.includes(event)) continue;
        const count = (counts.get(event) ?? 0) + 1;
        counts.set(event, count);
        this.happened[`${session.split("/").at(-1)?.slice(3, 4)} ${event} ${count}`] ??=
          this.clock.elapsed() - this.#began;
      }
    }
  }
}

await new Waits(1).live(); // The first one takes longer: code is loaded.
const calm = await new Waits(1).live();

function jump(at: number, ms: number): Blow {
  return { at, strike: ({ clock }) => clock.jump(ms) };
}

function restart(at: number, ms: number): Blow {
  return { at, ends: true, strike: ({ clock }) => clock.jump(ms) };
}

/** What happens at another time; `adopted`: since when a silent process is watched again. */
function wrong(happened: Happened, adopted = 0): string[] {
  return Object.entries(calm).flatMap(([what, at]) => {
    const then = happened[what];
    const due = what.startsWith(HUNG) ? at + adopted : at;
    return then === undefined || Math.abs(then - due) > LATE_MS ? [`${what}: ${then}, not ${due}`] : [];
  });
}

test("there are waits of all kinds, and all are over", () => {
  const kinds = new Set(Object.keys(calm).map((what) => what.split(" ")[1]));
  expect([...kinds].sort()).toEqual([...WAITED_FOR].sort());
});

test.each([DAY, -DAY])("a clock that is set by %d ms changes no wait", async (ms) => {
  expect(wrong(await new Waits(1).live(jump(3_000, ms)))).toEqual([]);
  expect(wrong(await new Waits(1).live(jump(200_000, ms), jump(350_000, -ms)))).toEqual([]);
});

test.each([DAY, -DAY])("a clock that is set by %d ms between two lives in one boot changes no wait", async (ms) => {
  expect(wrong(await new Waits(1).live(restart(200_000, ms)), 200_000)).toEqual([]);
  expect(wrong(await new Waits(1).live(restart(5_000, ms), restart(250_000, -2 * ms)), 250_000)).toEqual([]);
});

test("a machine that sleeps is not waited for: what was due meanwhile happens when it wakes up", async () => {
  const asleep = { at: 200_000, strike: (machine: HoldfastMachine) => machine.suspend(HOUR, false) };
  const happened = await new Waits(1).live(asleep);
  for (const [what, at] of Object.entries(calm)) {
    const { length } = Object.keys(happened).filter((one) => one === what);
    expect([what, length, (happened[what] ?? 0) <= at + LATE_MS]).toEqual([what, 1, true]);
  }
  expect(happened[SLEPT]).toBeLessThan(200_000 + LATE_MS);
  expect(happened[TIMEOUT]).toBeLessThan(200_000 + LATE_MS);
});
