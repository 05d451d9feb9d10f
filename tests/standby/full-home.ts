// A home with as many terminals, workflow runs and agents as are wanted, on one host; and what another host must have
// of it once it has taken it over. Each run is in its second step of three, each agent waits for an answer to its
// permission prompt.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "../../src/base/result.ts";
import type { ListedPrompt } from "../../src/wire/rpc/agent.ts";
import type { RpcClient } from "../../src/wire/rpc/client.ts";
import type { Method, Methods } from "../../src/wire/rpc/rpc.ts";
import { freshId } from "../agent/agent-home.ts";
import { PATIENCE_MS, until } from "../until.ts";
import type { Host } from "./host.ts";

/** Room for all of them, whatever the defaults are. */
export const ROOM = "[agents]\nslots = 100\n[workflows]\nslots = 100\n";

const AT_ONCE = 5;
const LONG_MS = 4 * PATIENCE_MS;
const AGENT = `#!/bin/sh
while read -r line; do case $line in
  *'"type":"prompt"'*) echo '{"type":"ask","request":"r1","tool":"Bash","input":{"command":"make"}}' ;;
  *'"type":"answer"'*) echo '{"type":"done","response":"answered"}' ;;
esac; done
`;

const step = (id: string, more = "") => ({
  ...{ id, shell: `echo "$RUN ${id}" >> ran${more}`, env: { RUN: "${run.id}" }, cwd: "." },
});
/** JSON is YAML. */
const WORKFLOW = { name: "full", steps: [step("first"), step("second", "; exec sleep 1000"), step("third")] };

async function must<M extends Method>(client: RpcClient, method: M, params: Methods[M]["params"]) {
  const answer: Result<Methods[M]["result"]> = await client.call(method, params);
  if (!answer.ok) throw new Error(`${method}: ${answer.error.message}`);
  return answer.value;
}

/** What there is of a home now, in words that can be compared. */
export type Census = {
  /** `name state generation`. */
  readonly terminals: readonly string[];
  /** `id state step`. */
  readonly runs: readonly string[];
  /** Agents with a process. */
  readonly agents: readonly string[];
  /** Ids of open prompts. */
  readonly prompts: readonly string[];
};

const NOTHING: Census = { terminals: [], runs: [], agents: [], prompts: [] };

export class FullHome {
  readonly count: number;
  /** Where all of them work: a directory that both hosts have. */
  readonly #cwd: string;
  readonly #names: readonly string[];
  readonly #runs: readonly string[];
  readonly #agents: readonly string[];

  constructor(place: string, count: number) {
    this.count = count;
    this.#cwd = join(place, "cwd");
    mkdirSync(this.#cwd);
    const each = <T>(make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
    this.#names = each((n) => `t${String(n).padStart(2, "0")}`);
    this.#runs = each(freshId).toSorted();
    this.#agents = each(freshId).toSorted();
  }

  /** All of them begun, and as far as they come. */
  async fill(host: Host): Promise<Census> {
    writeFileSync(join(this.#cwd, "full.yml"), JSON.stringify(WORKFLOW));
    writeFileSync(join(this.#cwd, "agent.sh"), AGENT);
    chmodSync(join(this.#cwd, "agent.sh"), 0o755);
    for (let at = 0; at < this.count; at += AT_ONCE) {
      await this.#begin(host, at, Math.min(at + AT_ONCE, this.count));
      await this.#is(host, host.home, this.#wanted("running", 1, at + AT_ONCE));
    }
    return this.census(host, host.home);
  }

  async #begin(host: Host, from: number, to: number): Promise<void> {
    const client = await this.#dial(host, host.home);
    const [cwd, { env }] = [this.#cwd, host];
    for (let n = from; n < to; n += 1) {
      const argv = ["sh", "-c", `echo terminal ${n} was here; exec cat`] as const;
      const name = this.#names[n] ?? "";
      await must(client, "terminal.new", { lane: "main", name, argv, cwd, env, cols: 80, rows: 24 });
      const wish = { path: join(cwd, "full.yml"), cwd, texts: {}, values: {}, env };
      await must(client, "workflow.run", { id: this.#runs[n] ?? "", ...wish });
      const plain = { parent: null, model: null, systemPrompt: "", flags: [], permissionMode: null, settings: {} };
      const what = { name: `a${n}`, instructions: "Begin.", provider: "scripted", command: ["./agent.sh"] };
      await must(client, "agent.new", { id: this.#agents[n] ?? "", ...plain, ...what, cwd, env });
    }
    client.close();
  }

  /** As it must be on the other host: terminals in their next generation, and steps that ran uncertain. */
  async isBack(host: Host, home: string): Promise<Census> {
    await this.#is(host, home, this.#wanted("uncertain", 2, this.count));
    return this.census(host, home);
  }

  #wanted(run: string, generation: number, count: number): Partial<Census> {
    return {
      terminals: this.#names.slice(0, count).map((name) => `${name} running ${generation}`),
      runs: this.#runs.slice(0, count).map((id) => `${id} ${run} 2`),
      agents: this.#agents.slice(0, count),
    };
  }

  async #is(host: Host, home: string, wanted: Partial<Census>): Promise<void> {
    let seen = NOTHING;
    await until(
      `all ${this.count} terminals, runs and agents are there`,
      async () => {
        const now = await this.census(host, home);
        if (now !== NOTHING) seen = now; // What was there last says more than that its daemon is gone by now.
        const isThere = Object.entries(wanted).every(([key, value]) =>
          Bun.deepEquals(seen[key as keyof Census], value),
        );
        return isThere && seen.prompts.length === wanted.agents?.length;
      },
      () => `${Bun.inspect({ seen, wanted })}\n${host.log()}`,
      LONG_MS,
    );
  }

  async census(host: Host, home: string): Promise<Census> {
    const client = await host.dial(home);
    if (client === undefined) return NOTHING;
    try {
      const [terminals, runs, agents, prompts] = await Promise.all([
        client.call("terminal.list", { brief: true }),
        client.call("workflow.list", {}),
        client.call("agent.list", {}),
        client.call("prompt.list", {}),
      ]);
      return {
        terminals: listed(terminals, ({ name, state, generation }) => `${name} ${state.kind} ${generation}`),
        runs: listed(runs, ({ id, state, step }) => `${id} ${state} ${step}`),
        agents: listed(agents, ({ id, pid }) => (pid === null ? undefined : id)),
        prompts: listed(prompts, ({ id }: ListedPrompt) => id),
      };
    } finally {
      client.close();
    }
  }

  /** How often each step began, by run: `first second`. */
  ran(): string[] {
    const file = join(this.#cwd, "ran");
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
    return this.#runs.map((run) =>
      lines
        .filter((line) => line.startsWith(`${run} `))
        .map((line) => line.slice(run.length + 1))
        .join(" "),
    );
  }

  /** Answers these prompts; returns "ok" or the code of the refusal for each. */
  async answered(host: Host, home: string, prompts: readonly string[]): Promise<string[]> {
    const client = await this.#dial(host, home);
    const ends: string[] = [];
    for (const prompt of prompts) {
      const answer = await client.call("prompt.answer", { prompt, answer: freshId(), decision: "allow" });
      ends.push(answer.ok ? "ok" : answer.error.code);
    }
    client.close();
    return ends;
  }

  /** Every agent has ended its turn. */
  async agentsRest(host: Host, home: string): Promise<void> {
    const client = await this.#dial(host, home);
    await until(
      "every agent has had its answer",
      async () => (await must(client, "agent.list", {})).every(({ turns, state }) => turns === 1 && state === "idle"),
      () => must(client, "agent.list", {}),
      LONG_MS,
    );
    client.close();
  }

  #dial(host: Host, home: string): Promise<RpcClient> {
    return until(
      "the daemon answers",
      () => host.dial(home),
      () => host.log(),
    );
  }
}

function listed<T>(answer: Result<readonly T[]>, word: (row: T) => string | undefined): string[] {
  const rows = answer.ok ? answer.value : [];
  return rows.flatMap((row) => word(row) ?? []).toSorted();
}
