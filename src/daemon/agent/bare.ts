// Bare LLMs: one request at a time for each agent, built from its conversation; the answer is read as a whole.
// B1. The number of a request is its identity: if it is repeated after a crash, its answer counts once (C2 of
//     core/agent/commands.ts).
// B2. An endpoint that keeps failing is not asked for a while (CB-1), nor is one that says when to retry. A request
//     that we cancelled is none of its failures.
// B3. A stream that sends nothing for too long is given up, and so is one that does not end: an endpoint that only
//     sends signs of life would keep the agent's turn for ever. Keys come only from our environment, and appear in no
//     log and no error.

import { CircuitBreaker } from "../../base/breaker.ts";
import { isFault } from "../../base/fault.ts";
import { timeText } from "../../base/time-text.ts";
import { itemsOf } from "../../base/vector.ts";
import type { Agent } from "../../core/agent/agent.ts";
import type { ProviderEvent } from "../../core/agent/provider.ts";
import { AnswerReader, refusalOf, requestOf, type ToolSchema } from "../../wire/provider/openai.ts";
import type { Clock } from "../../world/clock.ts";
import type { HttpClient, Posted } from "../../world/http.ts";

export type BarePorts = {
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly tools: readonly ToolSchema[];
  readonly breaker: { readonly threshold: number; readonly timeoutMs: number };
  variable(name: string): string | undefined;
  answered(id: string, request: number, events: readonly ProviderEvent[]): Promise<void>;
  onBug(error: unknown, id: string): void;
};

/** B3. The slowest models think for a minute before their first word. */
const STALL_MS = 120_000;
/** B3. The longest answers of today's models take some minutes. */
const MAX_ANSWER_MS = 3_600_000;
const DEFAULT_URL = "https://openrouter.ai/api/v1";
const DEFAULT_KEY = "OPENROUTER_API_KEY";
/** The text of a refusal; the rest is not read. */
const MAX_ERROR = 64 << 10;

export class BareModels {
  readonly #ports: BarePorts;
  readonly #breakers = new Map<string, CircuitBreaker>();
  /** By agent: the request in progress, and how to cancel it. */
  readonly #going = new Map<string, { readonly request: number; stop(): void }>();

  constructor(ports: BarePorts) {
    this.#ports = ports;
  }

  ask(agent: Agent, request: number): void {
    const before = this.#going.get(agent.id);
    if (before?.request === request) return; // B1
    before?.stop();
    const cancelling = new Cancelling();
    const going = { request, stop: () => cancelling.cancel() };
    this.#going.set(agent.id, going);
    const done = this.#asked(agent, cancelling)
      .then((events) =>
        this.#going.get(agent.id) === going ? this.#ports.answered(agent.id, request, events) : undefined,
      )
      .finally(() => {
        if (this.#going.get(agent.id) === going) this.#going.delete(agent.id);
      });
    void done.catch((error: unknown) => this.#ports.onBug(error, agent.id));
  }

  /** Cancels the agent's request. */
  isAsking(id: string): boolean {
    return this.#going.has(id);
  }

  forget(id: string): void {
    this.#going.get(id)?.stop();
    this.#going.delete(id);
  }

  close(): void {
    for (const id of [...this.#going.keys()]) this.forget(id);
  }

  /** B2 */
  async #asked(agent: Agent, cancelling: Cancelling): Promise<ProviderEvent[]> {
    const url = textOption(agent, "base_url") ?? DEFAULT_URL;
    const breaker = this.#breakers.get(url) ?? new CircuitBreaker({ name: new URL(url).host, ...this.#ports.breaker });
    this.#breakers.set(url, breaker);
    const pass = breaker.admit(this.#ports.clock.elapsed());
    if (!pass.ok) return [{ kind: "failed", reason: pass.error.message, retryable: true }];
    const events = await this.#answer(agent, url, cancelling.cancelled);
    const bad = events.some((event) => event.kind === "failed" && event.retryable);
    if (cancelling.isCancelled) breaker.cancelled(pass.value);
    else if (bad) breaker.failed(pass.value, this.#ports.clock.elapsed());
    else breaker.succeeded(pass.value, this.#ports.clock.elapsed());
    return events;
  }

  async #answer(agent: Agent, url: string, stopped: Promise<void>): Promise<ProviderEvent[]> {
    const key = this.#ports.variable(textOption(agent, "key_env") ?? DEFAULT_KEY);
    const { recipe, system_prompt } = agent.plan;
    const body = JSON.stringify(
      requestOf(recipe, system_prompt, [...itemsOf(agent.conversation.said)], this.#ports.tools),
    );
    const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const headers = { "content-type": "application/json", accept: "text/event-stream", ...authorization };
    const watch = new Watch(this.#ports.clock);
    try {
      const stop = Promise.race([stopped, watch.stalled]);
      const posted = await this.#ports.http.post({ url: `${url}/chat/completions`, headers, body }, stop);
      return posted.status === 200 ? await this.#said(posted, watch) : await this.#refused(posted);
    } catch (error) {
      if (!isFault(error)) throw error;
      const reason = watch.why ?? error.message;
      return [{ kind: "failed", reason, retryable: true }];
    } finally {
      watch.end();
    }
  }

  async #said(posted: Posted, watch: Watch): Promise<ProviderEvent[]> {
    const reader = new AnswerReader();
    for await (const text of posted.text()) {
      watch.heard();
      reader.feed(text);
      if (reader.isOver) break;
    }
    posted.stop();
    const answer = reader.end();
    if (answer.kind === "failed") return [answer];
    const calls = answer.calls.map((call) => ({ kind: "call", ...call }) as const);
    const text = answer.text === "" ? [] : [{ kind: "text", text: answer.text } as const];
    return calls.length > 0 ? [...text, ...calls] : [...text, { kind: "done", response: answer.text }];
  }

  /** B2 */
  async #refused(posted: Posted): Promise<ProviderEvent[]> {
    let body = "";
    for await (const text of posted.text()) {
      body += text;
      if (body.length > MAX_ERROR) break;
    }
    posted.stop();
    const { failure, afterMs } = refusalOf(posted.status, body, posted.header("retry-after"));
    if (failure.kind !== "failed") return [];
    if (afterMs === undefined || !failure.retryable) return [failure];
    return [{ kind: "limit", until: timeText(this.#ports.clock.now() + afterMs) }];
  }
}

/** Whether we have cancelled a request. */
class Cancelling {
  readonly #cancelled = Promise.withResolvers<void>();
  isCancelled = false;

  get cancelled(): Promise<void> {
    return this.#cancelled.promise;
  }

  cancel(): void {
    this.isCancelled = true;
    this.#cancelled.resolve();
  }
}

/** B3 */
class Watch {
  readonly #clock: Clock;
  readonly #late = Promise.withResolvers<void>();
  readonly #cancelEnd: () => void;
  #cancel: () => void;
  /** Why it is over; undefined if it is not. */
  why: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#cancel = this.#arm();
    this.#cancelEnd = clock.after(MAX_ANSWER_MS, () => this.#give("The answer was not complete after an hour."));
  }

  get stalled(): Promise<void> {
    return this.#late.promise;
  }

  heard(): void {
    this.#cancel();
    this.#cancel = this.#arm();
  }

  end(): void {
    this.#cancel();
    this.#cancelEnd();
  }

  #arm(): () => void {
    return this.#clock.after(STALL_MS, () => this.#give(`Nothing was heard for ${STALL_MS / 1000} s.`));
  }

  #give(why: string): void {
    this.why ??= why;
    this.#late.resolve();
  }
}

function textOption(agent: Agent, name: string): string | undefined {
  const value = agent.plan.recipe.options[name];
  return typeof value === "string" && value !== "" ? value.replace(/\/+$/, "") : undefined;
}
