// Bare LLMs: one request at a time for each agent, built from its conversation; the answer is read as a whole.
// B1. The number of a request is its identity: if it is repeated after a crash, its answer counts once (C2 of
//     core/agent/commands.ts).
// B2. A model that keeps failing is not asked for a while (CB-1), nor is one that says when to retry. A request that we
//     cancelled is none of its failures. Until then its agents wait, and their notes say why: no attempt is lost.
// B3. A stream that sends nothing for too long is given up, and so is one that does not end: an endpoint that only
//     sends signs of life would keep the agent's turn for ever. Keys come only from our environment, and appear in no
//     log and no error.
// B4. The text of an answer is passed on to watchers as it comes. It counts only as a whole, at the end.

import { CircuitBreaker } from "../../base/breaker.ts";
import { isFault } from "../../base/fault.ts";
import { timeText } from "../../base/time-text.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { heardPieces } from "../../core/agent/conversation.ts";
import type { ProviderEvent } from "../../core/agent/provider.ts";
import { AnswerReader, requestOf, type ToolSchema } from "../../wire/provider/openai.ts";
import { refusalOf } from "../../wire/provider/openai-error.ts";
import type { Clock } from "../../world/clock.ts";
import type { HttpClient, Posted } from "../../world/http.ts";

export type BarePorts = {
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly tools: readonly ToolSchema[];
  readonly breaker: { readonly threshold: number; readonly timeoutMs: number };
  variable(name: string): string | undefined;
  answered(id: string, request: number, events: readonly ProviderEvent[]): Promise<void>;
  /** B4 */
  partial(id: string, request: number, from: number, text: string): void;
  onBug(error: unknown, id: string): void;
};

/** B3. The slowest models think for a minute before their first word. */
const STALL_MS = 120_000;
/** B3. The longest answers of today's models take some minutes. */
const MAX_ANSWER_MS = 3_600_000;
const DEFAULT_URL = "https://openrouter.ai/api/v1";
const DEFAULT_KEY = "OPENROUTER_API_KEY";
/** B2. A clock that is a little early must not make it a busy loop. */
const MIN_WAIT_MS = 1_000;
/** The text of a refusal; the rest is not read. */
const MAX_ERROR = 64 << 10;

export class BareModels {
  readonly #ports: BarePorts;
  /** By endpoint and model: one model of an endpoint may fail while others work. */
  readonly #breakers = new Map<string, CircuitBreaker>();
  /** Endpoints that do not take the request to count tokens. */
  readonly #uncounted = new Set<string>();
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
    const done = this.#asked({ agent, request, cancelling, url: textOption(agent, "base_url") ?? DEFAULT_URL })
      .then((events) =>
        this.#going.get(agent.id) === going ? this.#ports.answered(agent.id, request, events) : undefined,
      )
      .finally(() => {
        if (this.#going.get(agent.id) === going) this.#going.delete(agent.id);
      });
    void done.catch((error: unknown) => this.#ports.onBug(error, agent.id));
  }

  isAsking(id: string): boolean {
    return this.#going.has(id);
  }

  /** Cancels the agent's request. */
  forget(id: string): void {
    this.#going.get(id)?.stop();
    this.#going.delete(id);
  }

  close(): void {
    for (const id of [...this.#going.keys()]) this.forget(id);
  }

  /** B2 */
  async #asked(wish: ModelRequest): Promise<ProviderEvent[]> {
    const { clock } = this.#ports;
    const breaker = this.#breakerFor(wish);
    const pass = breaker.admit(clock.elapsed());
    if (!pass.ok) {
      const waitMs = Math.max(MIN_WAIT_MS, breaker.until - clock.elapsed());
      return [{ kind: "later", reason: pass.error.message, until: timeText(clock.now() + waitMs) }];
    }
    const events = await this.#answer(wish);
    const bad = events.find((event) => event.kind === "failed" && event.retryable);
    if (wish.cancelling.isCancelled) breaker.cancelled(pass.value);
    else if (bad?.kind === "failed") breaker.failed(pass.value, clock.elapsed(), bad.reason);
    else breaker.succeeded(pass.value, clock.elapsed());
    return events;
  }

  #breakerFor({ agent, url }: ModelRequest): CircuitBreaker {
    const { model } = agent.plan.recipe;
    const name = `${new URL(url).host}${model === null ? "" : ` (${model})`}`;
    const key = `${url} ${model ?? ""}`;
    const breaker = this.#breakers.get(key) ?? new CircuitBreaker({ name, ...this.#ports.breaker });
    this.#breakers.set(key, breaker);
    return breaker;
  }

  #bodyOf({ agent, url }: ModelRequest): string {
    const { recipe, system_prompt: instructions } = agent.plan;
    const said = heardPieces(agent.conversation).map(({ piece }) => piece);
    const { forgotten } = agent.conversation.left;
    const isCounted = !this.#uncounted.has(url);
    return JSON.stringify(requestOf({ recipe, instructions, said, forgotten, tools: this.#ports.tools, isCounted }));
  }

  async #answer(wish: ModelRequest): Promise<ProviderEvent[]> {
    const { agent, url, cancelling } = wish;
    const key = this.#ports.variable(textOption(agent, "key_env") ?? DEFAULT_KEY);
    const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const headers = { "content-type": "application/json", accept: "text/event-stream", ...authorization };
    const watch = new Watch(this.#ports.clock);
    try {
      const stop = Promise.race([cancelling.cancelled, watch.stalled]);
      const body = this.#bodyOf(wish);
      const posted = await this.#ports.http.post({ url: `${url}/chat/completions`, headers, body }, stop);
      return posted.status === 200 ? await this.#said(wish, posted, watch) : await this.#refused(wish, posted);
    } catch (error) {
      if (!isFault(error)) throw error;
      const reason = watch.why ?? error.message;
      return [{ kind: "failed", reason, retryable: true }];
    } finally {
      watch.end();
    }
  }

  async #said({ agent, request }: ModelRequest, posted: Posted, watch: Watch): Promise<ProviderEvent[]> {
    const reader = new AnswerReader();
    let heard = 0;
    for await (const text of posted.text()) {
      watch.heard();
      reader.feed(text);
      const fresh = reader.takeNew();
      if (fresh !== "") this.#ports.partial(agent.id, request, heard, fresh); // B4
      heard += fresh.length;
      if (reader.isOver) break;
    }
    posted.stop();
    const answer = reader.end();
    if (answer.kind === "failed") return [answer];
    const calls = answer.calls.map((call) => ({ kind: "call", ...call }) as const);
    const used = answer.usage === undefined ? [] : [{ kind: "usage", usage: answer.usage } as const];
    const text = [...(answer.text === "" ? [] : [{ kind: "text", text: answer.text } as const]), ...used];
    return calls.length > 0 ? [...text, ...calls] : [...text, { kind: "done", response: answer.text }];
  }

  /** B2 */
  async #refused(wish: ModelRequest, posted: Posted): Promise<ProviderEvent[]> {
    let body = "";
    for await (const text of posted.text()) {
      body += text;
      if (body.length > MAX_ERROR) break;
    }
    posted.stop();
    if (body.includes("stream_options") && !this.#uncounted.has(wish.url)) {
      this.#uncounted.add(wish.url);
      return this.#answer(wish);
    }
    const now = this.#ports.clock.now();
    const { failure, afterMs } = refusalOf(posted.status, body, (name) => posted.header(name), now);
    if (afterMs === undefined) return [failure];
    return [{ kind: "limit", until: timeText(now + afterMs), reason: failure.reason }];
  }
}

type ModelRequest = {
  readonly agent: Agent;
  /** B1 */
  readonly request: number;
  readonly url: string;
  readonly cancelling: Cancelling;
};

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
