// An OpenAI-compatible chat completions endpoint on loopback: the test decides the answer to each request.
export type Reply =
  | { readonly kind: "text"; readonly text: string }
  /** `text`: its arguments as they are sent, instead of `args` as JSON. */
  | {
      readonly kind: "call";
      readonly id: string;
      readonly tool: string;
      readonly args: unknown;
      readonly text?: string;
    }
  /** Part of the text, then the connection is closed. */
  | { readonly kind: "break"; readonly text: string }
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** What its error says. */
      readonly message?: string;
    }
  /** Begins with `text`, and goes on with `more` until it is cut off. */
  | { readonly kind: "endless"; readonly text: string; readonly more: string }
  /** The head of an answer, with some text if there is one, and then nothing until `release`. */
  | { readonly kind: "stall"; readonly text?: string };

export type Asked = {
  readonly model: string;
  readonly messages: readonly unknown[];
  readonly tools: readonly unknown[];
  readonly stream_options?: { readonly include_usage: boolean };
};

/** What it says of each request that wants it counted: as many tokens of input as there are messages. */
const USAGE = { completion_tokens: 5, prompt_tokens_details: { cached_tokens: 1 }, cost: 0.25 };

export class OpenAiMock {
  readonly asked: Asked[] = [];
  readonly keys: (string | null)[] = [];
  readonly #server;
  readonly #next: Reply[] = [];
  readonly #when = new Map<string, Reply>();
  readonly #stalled: (() => void)[] = [];

  constructor() {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/v1`;
  }

  will(...replies: Reply[]): void {
    this.#next.push(...replies);
  }

  /** The reply to a request whose last message contains this text. */
  when(words: string, reply: Reply): void {
    this.#when.set(words, reply);
  }

  /** Whether there was a request whose last message contained this text. */
  has(words: string): boolean {
    return this.asked.some(({ messages, tools }) => tools !== undefined && lastWords(messages).includes(words));
  }

  release(): void {
    for (const goOn of this.#stalled.splice(0)) goOn();
  }

  /** How many endless answers were cut off by the other side. */
  cutOff = 0;

  #endless(text: string, more: string): ReadableStream<Uint8Array> {
    const bytes = new TextEncoder();
    return new ReadableStream({
      start: (controller) => controller.enqueue(bytes.encode(text)),
      pull: async (controller) => {
        await Bun.sleep(0); // As fast as it is read, but others have their turn.
        controller.enqueue(bytes.encode(more));
      },
      cancel: () => {
        this.cutOff += 1;
      },
    });
  }

  close(): void {
    void this.#server.stop(true);
  }

  #fitting(): Reply | undefined {
    const asked = this.asked.at(-1);
    if (asked?.tools === undefined) return undefined; // Titles and the like have no tools.
    const words = lastWords(asked.messages);
    return [...this.#when].find(([one]) => words.includes(one))?.[1];
  }

  async #answer(request: Request): Promise<Response> {
    this.asked.push((await request.json()) as Asked);
    this.keys.push(request.headers.get("authorization"));
    const reply = this.#next.shift() ?? this.#fitting() ?? { kind: "text", text: "nothing more" };
    if (reply.kind === "status")
      return Response.json(
        { error: { message: reply.message ?? "not now" } },
        { ...reply, headers: { ...reply.headers } },
      );
    if (reply.kind === "endless") return new Response(this.#endless(reply.text, reply.more));
    const stall = reply.kind === "stall" ? new Promise<void>((goOn) => this.#stalled.push(goOn)) : Promise.resolve();
    const { stream_options, messages } = this.asked.at(-1) ?? { messages: [] };
    const usage = { ...USAGE, prompt_tokens: messages.length };
    const counted = stream_options?.include_usage === true ? `data: ${JSON.stringify({ choices: [], usage })}\n\n` : "";
    return new Response(streamOf(reply, stall, counted), { headers: { "content-type": "text/event-stream" } });
  }
}

/** The last message of a person or a tool. */
function lastWords(messages: readonly unknown[]): string {
  return JSON.stringify(messages.at(-1) ?? "");
}

export const chunk = (delta: unknown, finish: string | null = null) =>
  `data: ${JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

function streamOf(
  reply: Exclude<Reply, { kind: "status" | "endless" }>,
  stall: Promise<void>,
  counted: string,
): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder();
  return new ReadableStream({
    async start(controller) {
      const say = (text: string) => controller.enqueue(bytes.encode(text));
      say(chunk({ role: "assistant", content: "" }));
      if (reply.kind === "stall" && reply.text !== undefined) say(chunk({ content: reply.text }));
      await stall;
      for (const part of reply.kind === "call" ? calling(reply) : saying(reply)) say(part);
      await Bun.sleep(0); // So that what was said leaves before a cut.
      if (reply.kind === "break") return controller.error(new Error("cut"));
      say(chunk({}, reply.kind === "call" ? "tool_calls" : "stop"));
      say(`${counted}data: [DONE]\n\n`);
      controller.close();
    },
  });
}

function saying(reply: Exclude<Reply, { kind: "status" | "call" | "endless" }>): string[] {
  const text = reply.kind === "stall" ? "and so on" : reply.text;
  return text.split(/(?= )/).map((word) => chunk({ content: word }));
}

function calling({ id, tool, args, text }: Reply & { kind: "call" }): string[] {
  const head = { index: 0, id, type: "function", function: { name: tool, arguments: "" } };
  const parts = text === undefined ? (JSON.stringify(args).match(/.{1,7}/g) ?? []) : [text];
  const rest = parts.map((part) => chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] }));
  return [chunk({ tool_calls: [head] }), ...rest];
}
