// An endpoint as OpenAI's chat completions are, on loopback: each request is answered by what a test says comes next.
export type Reply =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly id: string; readonly tool: string; readonly args: unknown }
  /** Some of the text, then the connection is cut. */
  | { readonly kind: "break"; readonly text: string }
  | { readonly kind: "status"; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  /** The head of an answer, and then nothing until it is let go. */
  | { readonly kind: "stall" };

export type Asked = {
  readonly model: string;
  readonly messages: readonly unknown[];
  readonly tools: readonly unknown[];
};

export class OpenAiMock {
  readonly asked: Asked[] = [];
  readonly keys: (string | null)[] = [];
  readonly #server;
  readonly #next: Reply[] = [];

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

  close(): void {
    void this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    this.asked.push((await request.json()) as Asked);
    this.keys.push(request.headers.get("authorization"));
    const reply = this.#next.shift() ?? { kind: "text", text: "nothing more" };
    if (reply.kind === "status")
      return new Response('{"error":{"message":"not now"}}', { status: reply.status, headers: { ...reply.headers } });
    return new Response(streamOf(reply), { headers: { "content-type": "text/event-stream" } });
  }
}

const chunk = (delta: unknown, finish: string | null = null) =>
  `data: ${JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

function streamOf(reply: Exclude<Reply, { kind: "status" }>): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder();
  return new ReadableStream({
    async start(controller) {
      const say = (text: string) => controller.enqueue(bytes.encode(text));
      say(chunk({ role: "assistant", content: "" }));
      if (reply.kind === "stall") return;
      if (reply.kind === "call") {
        const call = { index: 0, id: reply.id, type: "function", function: { name: reply.tool, arguments: "" } };
        say(chunk({ tool_calls: [call] }));
        for (const part of JSON.stringify(reply.args).match(/.{1,7}/g) ?? [])
          say(chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] }));
        say(chunk({}, "tool_calls"));
      } else {
        for (const word of reply.text.split(/(?= )/)) say(chunk({ content: word }));
        await Bun.sleep(0); // So that what was said leaves before the cut.
        if (reply.kind === "break") return controller.error(new Error("cut"));
        say(chunk({}, "stop"));
      }
      say("data: [DONE]\n\n");
      controller.close();
    },
  });
}
