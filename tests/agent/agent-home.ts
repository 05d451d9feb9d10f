// A home with real daemons and agents.
import { afterEach, expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../src/base/ids.ts";
import type { AgentState } from "../../src/core/agent/agent.ts";
import type { ListedAgent, NewAgent } from "../../src/wire/rpc/agent.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { DaemonHome } from "../daemon/home.ts";
import { BUN } from "../ours.ts";
import { PATIENCE_MS, until } from "../until.ts";

export const ACTOR = [BUN, "--no-env-file", "--no-install", join(import.meta.dir, "actor.ts")];

export function freshId(): string {
  return newId(realRandom().bytes(16));
}

/** Some agents take half a minute to start on a busy machine. */
export const AGENT_PATIENCE_MS = 4 * PATIENCE_MS;

export class AgentHome extends DaemonHome {
  /** Processes of agents have markers as well (H3 of daemon/home.ts). */
  override runs(): string[] {
    const agents = existsSync(this.file("agents")) ? readdirSync(this.file("agents")) : [];
    return [...super.runs(), ...agents];
  }

  wanted(name: string, given: Partial<NewAgent> = {}): NewAgent {
    return {
      ...{ id: freshId(), name, parent: null, instructions: "", provider: "scripted", model: null, systemPrompt: "" },
      ...{ cwd: this.path, env: {}, command: ACTOR, flags: [], permissionMode: null, settings: {}, ...given },
    };
  }

  async agent(name: string, given: Partial<NewAgent> = {}): Promise<string> {
    return (await this.must("agent.new", this.wanted(name, given))).id;
  }

  async say(id: string, text: string): Promise<string> {
    const message = freshId();
    await this.must("agent.send", { id, message, text, replyTo: null });
    return message;
  }

  shown(id: string) {
    return this.must("agent.show", { id });
  }

  /** Waits until it has ended this many turns and rests. */
  rests(id: string, turns: number): Promise<ListedAgent> {
    return until(
      `${id} rests after ${turns} turns`,
      async () => {
        const agent = (await this.must("agent.list", {})).find((one) => one.id === id);
        return agent?.turns === turns && agent.state === "idle" && agent.inbox === 0 ? agent : undefined;
      },
      () => this.shown(id),
      AGENT_PATIENCE_MS,
    );
  }

  /** Waits until it has the given state. */
  becomes(id: string, state: AgentState): Promise<ListedAgent> {
    return until(
      `${id} is ${state}`,
      async () => {
        const agent = await this.shown(id);
        return agent.state === state ? agent : undefined;
      },
      () => this.shown(id),
      AGENT_PATIENCE_MS,
    );
  }

  /** Its log follows what is acknowledged. */
  async logged(id: string, name: string, times: number): Promise<void> {
    await until(
      `${name}, ${times} times`,
      () => this.events(id).filter((one) => one === name).length >= times,
      () => this.events(id).filter((one) => one === name).length,
    );
    expect(this.events(id).filter((one) => one === name)).toHaveLength(times);
  }

  /** Text after the last newline is only half written. */
  #lines(id: string): string[] {
    return this.text(`agents/${id}/events.jsonl`).split("\n").slice(0, -1);
  }

  /** The names of its events. */
  events(id: string): string[] {
    const lines = this.#lines(id);
    return lines.map((line) => String(JSON.parse(line).event));
  }

  /** The number of the last turn that was completed, as its log has it. */
  completed(id: string): number {
    const last = this.#lines(id).findLast((line) => line.includes('"turn.complete"'));
    return last === undefined ? 0 : Number(JSON.parse(last).data.turn);
  }

  /** The data of the last event of that name. */
  lastOf(id: string, name: string): Promise<Record<string, unknown>> {
    return until(
      `${name} of ${id}`,
      () => {
        const lines = this.#lines(id);
        return lines.map((line) => JSON.parse(line)).findLast(({ event }) => event === name)?.data;
      },
      () => this.events(id),
    );
  }

  answer(prompt: string, decision: "allow" | "deny" = "allow") {
    return this.ask("prompt.answer", { prompt, answer: freshId(), decision, message: "", always: false });
  }

  prompt() {
    return until(
      "a prompt",
      async () => (await this.must("prompt.list", {}))[0],
      () => this.must("prompt.list", {}),
      AGENT_PATIENCE_MS,
    );
  }
}

/** Like daemonHomes(): when a test is done, no process of its homes is left. */
export function agentHomes(): () => AgentHome {
  const homes: AgentHome[] = [];
  afterEach(async () => {
    for (const home of homes.splice(0)) await home.close();
  });
  return () => {
    const home = new AgentHome();
    homes.push(home);
    return home;
  };
}
