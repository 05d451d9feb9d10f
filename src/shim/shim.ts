// The shim between an agent and its tools: MCP on the agent's pipes,
// the daemon behind it. It lives with the agent and outlives daemons.
// SH1. A call keeps one id through all attempts. It is retried until a daemon answers, however many daemons that takes;
//      the log answers a repeat, so that nothing happens twice.
// SH2. The daemon is notified only after the agent's pipe has accepted an answer: the messages in it count as delivered
//      then.
// SH3. Greetings and the list of tools need no daemon: an agent can start without one.
import { backoffMs } from "../base/backoff.ts";
import { isFault } from "../base/fault.ts";
import type { Json } from "../base/json.ts";
import type { Result } from "../base/result.ts";
import { answerMcp, refusedCall, type ToolAnswer } from "../wire/provider/mcp.ts";
import type { ToolSchema } from "../wire/provider/openai.ts";
import { type Dial, RpcClient } from "../wire/rpc/client.ts";

/** A daemon is back within a second; one that stays away costs an attempt every few seconds. */
const RETRY = { firstMs: 50, mostMs: 5_000, jitter: 0.2 };

export type ShimPorts = {
  readonly dial: Dial;
  /** Read again for every line: a restored home may have another. Returns undefined if there is none. */
  token(): string | undefined;
  after(ms: number, fn: () => void): () => void;
  chance(): number;
  write(line: string): Promise<void>;
};

export type ShimIdentity = {
  readonly version: string;
  readonly tools: readonly ToolSchema[];
  /** Unique to this process: ids of calls begin with it. */
  readonly name: string;
};

export class Shim {
  readonly #ports: ShimPorts;
  readonly #identity: ShimIdentity;
  #client: Promise<RpcClient | undefined> | undefined;

  constructor(ports: ShimPorts, identity: ShimIdentity) {
    this.#ports = ports;
    this.#identity = identity;
  }

  /** Takes one line from the agent; resolves when its answer, if any, is accepted. */
  async take(line: string): Promise<void> {
    const { version, tools } = this.#identity;
    let call: string | undefined;
    const server = {
      version,
      tools,
      call: (tool: string, args: Json, request: string) => {
        call = `${this.#identity.name}.${request}`; // SH1
        return this.#call({ call, tool, args });
      },
    };
    const answer = await answerMcp(line, server);
    if (answer === undefined) return;
    await this.#ports.write(`${answer}\n`);
    // SH2
    if (call !== undefined) await this.#asking((client) => client.call("agent.call-taken", { call: call ?? "" }));
  }

  async #call(asked: { readonly call: string; readonly tool: string; readonly args: Json }): Promise<ToolAnswer> {
    const answer = await this.#asking((client) => client.call("agent.call", asked));
    if (answer.ok) return answer.value;
    return refusedCall(answer.error);
  }

  /**
   * SH1. A refusal is an answer. If the daemon is missing, not ready, or gone before it answered, the call is retried.
   */
  async #asking<T>(ask: (client: RpcClient) => Promise<Result<T>>): Promise<Result<T>> {
    for (let failures = 1; ; failures += 1) {
      const client = await this.#connected();
      const answer = client && (await ask(client));
      if (answer !== undefined && (answer.ok || !NO_ANSWER.includes(answer.error.code))) return answer;
      const ms = backoffMs(failures, this.#ports.chance(), RETRY);
      await new Promise<void>((resolve) => this.#ports.after(ms, resolve));
    }
  }

  #connected(): Promise<RpcClient | undefined> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<RpcClient | undefined> {
    const client = await this.#dialled();
    if (client === undefined) this.#client = undefined;
    else void client.closed.then(() => (this.#client = undefined));
    return client;
  }

  async #dialled(): Promise<RpcClient | undefined> {
    const token = this.#ports.token();
    if (token === undefined) return undefined;
    try {
      const made = await RpcClient.connect(this.#ports.dial, token, this.#identity.version);
      return made.ok ? made.value : undefined;
    } catch (error) {
      if (!isFault(error)) throw error;
      return undefined;
    }
  }
}

/** The daemon went away, is not live yet, does not know its agents yet, or has no room: all of these are temporary. */
const NO_ANSWER = ["daemon.gone", "daemon.silent", "not-live", "log.busy", "log.blocked", "agent.unknown"];
