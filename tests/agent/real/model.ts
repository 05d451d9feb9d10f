// Stands in for the services of models that real agents call, on loopback. Each speaks its real protocol (server-sent
// events); the newest words of the person determine the answer:
//   `run: COMMAND` calls the shell tool; `write: FILE` the tool that writes one; `stall:` waits for `release` in the
//   middle of the answer; all else is answered with the number of the request.
import type { Server } from "bun";

/** What the tests ask of a model, whichever protocol it speaks. */
export type Model = {
  readonly url: string;
  /** Whether the newest words of a request contained these. */
  heard(words: string): boolean;
  /** All of the newest request. */
  newest(): string;
  /** Lets stalled answers continue. */
  release(): void;
  stop(): Promise<void>;
};

export type Answer =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "write"; readonly file: string };

type Body = { readonly [name: string]: unknown };

export type Protocol = {
  /** The end of the path of a request to the model; all others get `{}`. */
  readonly path: RegExp;
  /** The messages, newest last. */
  messages(body: Body): readonly object[];
  /** Whether this message is the result of a tool. */
  isResult(message: object): boolean;
  /** The whole answer as events, in two parts between which it may stall. */
  events(answer: Answer, request: number, body: Body): readonly [readonly object[], readonly object[]];
};

export class LoopbackModel implements Model {
  readonly #protocol: Protocol;
  readonly #server: Server<undefined>;
  readonly #asked: { readonly last: string; readonly all: string }[] = [];
  readonly #stalled: (() => void)[] = [];

  constructor(protocol: Protocol) {
    this.#protocol = protocol;
    const fetch = (request: Request) => this.#answer(request);
    this.#server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  heard(words: string): boolean {
    return this.#asked.some(({ last }) => last.includes(words));
  }

  newest(): string {
    return this.#asked.at(-1)?.all ?? "";
  }

  release(): void {
    for (const goOn of this.#stalled.splice(0)) goOn();
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    if (!this.#protocol.path.test(new URL(request.url).pathname)) return Response.json({});
    const body = (await request.json()) as Body;
    // Titles and the like have no tools.
    if (body["tools"] === undefined) return this.#stream({ kind: "text", text: "a title" }, body, Promise.resolve());
    const messages = this.#protocol.messages(body);
    const newest = messages.at(-1) ?? {};
    const last = this.#protocol.isResult(newest) ? "" : JSON.stringify(newest);
    this.#asked.push({ last, all: JSON.stringify(messages) });
    const stalls = last.includes("stall:");
    const stall = stalls ? new Promise<void>((goOn) => this.#stalled.push(goOn)) : Promise.resolve();
    return this.#stream(this.#answerTo(last), body, stall);
  }

  #answerTo(last: string): Answer {
    const wish = last.includes("<history ") ? "" : last; // What was asked before, in another conversation.
    const [, what, rest = ""] = /(run|write): ([^"\\]*)/.exec(wish) ?? [];
    if (what === "run") return { kind: "run", command: rest };
    return what === "write" ? { kind: "write", file: rest } : { kind: "text", text: `answer ${this.#asked.length}` };
  }

  #stream(answer: Answer, body: Body, stall: Promise<void>): Response {
    const [first, rest] = this.#protocol.events(answer, this.#asked.length, body);
    const stream = new ReadableStream({
      async start(sink) {
        sink.enqueue(eventText(first));
        await stall;
        sink.enqueue(eventText(rest));
        sink.close();
      },
    });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  }
}

function eventText(events: readonly object[]): string {
  const head = (event: object) => ("type" in event ? `event: ${String(event.type)}\n` : "");
  return events.map((event) => `${head(event)}data: ${JSON.stringify(event)}\n\n`).join("");
}
