// Agents on a benchmark's own daemon: scripted ones, each a shell that answers every prompt at once.
import { newId } from "../src/base/ids.ts";
import type { RpcClient } from "../src/wire/rpc/client.ts";
import type { Home } from "./home.ts";
import { processesOf } from "./processes.ts";
import { until } from "./waiting.ts";

const PATIENCE_MS = 300_000;
/** Starting a process each for all of them at once would measure that. */
const AT_ONCE = 10;

/** Nobody is put away for another, and the daemon may be killed as often as is wanted. */
export const CONFIG = "[agents]\nslots = 1000\n[crash_loop]\ncrashes = 1000000\nwindow_s = 86400\n";

const PROGRAM = `while read -r line; do case $line in *'"type":"prompt"'*) echo '{"type":"done","response":"ok"}';; esac; done`;

export function freshId(): string {
  return newId(crypto.getRandomValues(new Uint8Array(16)));
}

/** A connection to the daemon that is notified when turns end. */
export class AgentHome {
  readonly #client: RpcClient;
  readonly #home: Home;
  /** Turns that have ended since the start, by agent. */
  readonly #ended = new Map<string, number>();
  #heard: (() => void) | undefined;

  static async open(home: Home): Promise<AgentHome> {
    const client = await until("the daemon", PATIENCE_MS, () => home.dial());
    const agents = new AgentHome(home, client);
    mustBe(await client.call("subscribe", { topics: ["turn.complete", "message.delivered"] }));
    return agents;
  }

  /** How many messages were delivered. */
  delivered = 0;

  private constructor(home: Home, client: RpcClient) {
    this.#home = home;
    this.#client = client;
    client.onNotice = ({ topic, data }) => {
      const { id } = data as { readonly id: string };
      if (topic === "turn.complete") this.#ended.set(id, this.turnsOf(id) + 1);
      else this.delivered += 1;
      this.#heard?.();
    };
  }

  turnsOf(id: string): number {
    return this.#ended.get(id) ?? 0;
  }

  /** So many agents, each with a process that has had a turn. */
  async make(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, freshId);
    for (let at = 0; at < count; at += AT_ONCE) {
      const some = ids.slice(at, at + AT_ONCE);
      await Promise.all(some.map((id) => this.#make(id)));
      await this.when("their first turns", () => some.every((id) => this.turnsOf(id) > 0));
    }
    return ids;
  }

  async #make(id: string): Promise<void> {
    const plain = { parent: null, model: null, systemPrompt: "", flags: [], permissionMode: null, settings: {} };
    const command = ["/bin/sh", "-c", PROGRAM];
    const what = { id, name: `a${id}`, instructions: "Begin.", provider: "scripted", command };
    mustBe(await this.#client.call("agent.new", { ...plain, ...what, cwd: "/", env: this.#home.env }));
  }

  /** Acknowledged when it resolves. */
  async send(id: string): Promise<void> {
    const wish = { id, message: freshId(), text: "A message of about as many words as people write.", replyTo: null };
    mustBe(await this.#client.call("agent.send", wish));
  }

  /** Resolves as soon as an event makes it true. */
  async when(what: string, holds: () => boolean): Promise<void> {
    const late = setTimeout(() => done.reject(new Error(`waited in vain for: ${what}`)), PATIENCE_MS);
    const done = Promise.withResolvers<void>();
    this.#heard = () => holds() && done.resolve();
    this.#heard();
    await done.promise;
    clearTimeout(late);
    this.#heard = undefined;
  }

  close(): void {
    this.#client.close();
  }

  /** All of them, and the line. */
  async end(ids: readonly string[]): Promise<void> {
    for (const id of ids) mustBe(await this.#client.call("agent.terminate", { id, reason: "measured" }));
    await until("all have ended", PATIENCE_MS, async () => {
      const list = await this.#client.call("agent.list", {});
      return list.ok && list.value.length === 0 && !hasProcesses(this.#home.path) ? true : undefined;
    });
    this.close();
  }
}

function hasProcesses(home: string): boolean {
  return processesOf(home).some(({ words }) => words.some((word) => word.startsWith(`${home}/agents/`)));
}

function mustBe(answer: { readonly ok: boolean; readonly error?: { readonly message: string } }): void {
  if (!answer.ok) throw new Error(answer.error?.message);
}
