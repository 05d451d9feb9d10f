// The person of a sweep (SW1 and SW2 of sweep.ts): wants certain runs, and looks after them over the daemon's socket.
// PE1. Only what a run says it waits for is decided and answered, each prompt under one id.
import type { Need } from "../../../src/core/workflow/progress.ts";
import type { ListedRun } from "../../../src/wire/rpc/workflow.ts";
import type { Client } from "./client.ts";
import { idOf, type RunWish } from "./script.ts";

const OVER: readonly string[] = ["done", "done_with_failures", "failed", "cancelled"];

export class Person {
  readonly wishes: RunWish[] = [];
  /** Whether every run is to be interrupted at the next occasion. */
  interrupts = false;
  /** The runs as they were shown last, by their ids. */
  shown: ReadonlyMap<string, string> = new Map();
  readonly #acknowledged = new Set<string>();
  #resumed = 0;
  readonly #answers = new Map<string, string>();

  /** Returns whether all is over. */
  async attend(client: Client): Promise<boolean> {
    if (this.wishes.length === 0) return true;
    const runs = new Map((await client.ask("workflow.list", {})).map((run) => [run.id, run]));
    const lost = [...this.#acknowledged].filter((id) => !runs.has(id));
    if (lost.length > 0) throw new Error(`${lost} was acknowledged and is gone`); // SW2
    this.shown = new Map([...runs].map(([id, run]) => [id, JSON.stringify(run)]));
    for (const wish of this.wishes.filter(({ id }) => !runs.has(id))) await this.#ask(client, wish);
    for (const run of runs.values()) await this.#help(client, run);
    this.interrupts = false;
    return this.wishes.every(({ id }) => OVER.includes(runs.get(id)?.state ?? "")) && (await this.#noneIsLeft(client));
  }

  async #ask(client: Client, { id }: RunWish): Promise<void> {
    const nothing = { texts: {}, values: {}, env: {} };
    await client.ask("workflow.run", { id, path: `/w/${id}.yml`, cwd: `/w/${id}`, ...nothing });
    this.#acknowledged.add(id);
  }

  async #help(client: Client, { id, state, needs }: ListedRun): Promise<void> {
    if (this.interrupts && !OVER.includes(state)) await client.call("workflow.interrupt", { id });
    else if (state === "interrupted") await client.ask("workflow.resume", { id, force: false, by: this.#asker() });
    else for (const need of needs) await this.#decide(client, id, need);
  }

  /** As the command does: a wish that is repeated because its answer was lost is the same wish. */
  #asker() {
    this.#resumed += 1;
    return { wish: idOf(0xff00 + (this.#resumed % 0xff)), pid: 1, user: "person" };
  }

  /** PE1 */
  async #decide(client: Client, id: string, { attempt, agent, prompt }: Need): Promise<void> {
    if (agent === null) await client.ask("workflow.resolve", { id, attempt, verdict: "rerun" });
    if (prompt === null) return;
    const answer = this.#answers.get(prompt) ?? idOf(this.#answers.size);
    this.#answers.set(prompt, answer);
    await client.ask("prompt.answer", { prompt, answer, decision: "allow" });
  }

  /** Agents of steps end with them. */
  async #noneIsLeft(client: Client): Promise<boolean> {
    const agents = await client.ask("agent.list", {});
    return agents.every(({ state, pid }) => state === "terminated" && pid === null);
  }
}
