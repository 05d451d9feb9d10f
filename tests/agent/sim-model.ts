// The bare LLM of the simulated machine: it makes the calls in its lines, one at a time, and then says how many there
// were.
//   fail 429 S · fail 500 · fail cut · fail stall once: it wants to be asked later, breaks, breaks off in the middle,
//   says nothing
// SA2. It knows only the request, and its answer depends on that alone; only its failures belong to this world, and
//      happen once.
import { Fault } from "../../src/base/fault.ts";
import type { Clock } from "../../src/world/clock.ts";
import type { HttpClient, Posted } from "../../src/world/http.ts";
import { ACT_MS } from "../sim/machine.ts";
import { linesOf } from "./sim-actor.ts";

export type Asked = { readonly role: string; readonly [name: string]: unknown };

export class SimModel {
  /** The requests it got, in order. */
  readonly asked: (readonly Asked[])[] = [];
  readonly #failed = new Set<string>();

  /** The interface through which a daemon calls it. */
  door(clock: Clock, moment: (what: string) => void): HttpClient {
    return {
      post: async ({ body }, stopped) => {
        const { messages } = JSON.parse(body);
        moment("the model is asked");
        this.asked.push(messages);
        const failure = this.#failure(messages);
        const answer = answerTo(messages);
        const went = new Promise<boolean>((answered) => {
          if (failure?.[0] !== "stall") clock.after(ACT_MS, () => answered(true));
        });
        if (!(await Promise.race([went, stopped.then(() => false)])))
          throw new Fault({ code: "ECANCELED", operation: "post", path: "the model" });
        return failure === undefined ? posted(200, answer) : failed(failure, answer);
      },
    };
  }

  #failure(messages: readonly Asked[]): readonly string[] | undefined {
    const line = toldTo(messages, "fail").find((one) => !this.#failed.has(one));
    if (line !== undefined) this.#failed.add(line);
    return line?.split(" ").slice(1);
  }
}

function toldTo(messages: readonly Asked[], verb: string): string[] {
  const lines = messages.flatMap(({ role, content }) => (role === "user" ? linesOf(String(content)) : []));
  return lines.filter((line) => line.startsWith(`${verb} `));
}

function posted(status: number, text: string, retryAfter: string | null = null): Posted {
  return {
    status,
    header: (name) => (name === "retry-after" ? retryAfter : null),
    text: () => once(text),
    stop: () => undefined,
  };
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

function failed([how, seconds]: readonly string[], answer: string): Posted {
  if (how === "429") return posted(429, `{"error":{"message":"slow down"}}`, seconds ?? null);
  if (how === "500") return posted(500, "no");
  return posted(200, answer.slice(0, answer.length >> 1)); // It breaks off.
}

function answerTo(messages: readonly Asked[]): string {
  const called = messages.filter((message) => message["tool_calls"] !== undefined).length;
  const [, name, text] = /^call (\S+) (.*)$/.exec(toldTo(messages, "call")[called] ?? "") ?? [];
  const call = { index: 0, id: `llm-${called}`, function: { name, arguments: text } };
  const delta = name === undefined ? { content: `I did ${called}.` } : { tool_calls: [call] };
  return `data: ${JSON.stringify({ choices: [{ delta, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
}
