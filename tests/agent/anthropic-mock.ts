// Stands in for a service we do not own: the Messages API of Anthropic, as Claude Code calls it, on loopback. It speaks
// the real protocol (server-sent events). The last words of the person determine its answer:
//   `run: COMMAND` asks for the tool Bash; `use: TOOL {json}` for any tool; `stall:` waits for `release` in the middle
//   of its answer; `limit:` is refused with 429; `busy: N` is refused N times, with an hour or, `busy: Ns`, a second to
//   wait; all else is echoed.
import type { Server } from "bun";
import { until } from "../until.ts";
import { AGENT_PATIENCE_MS, type AgentHome } from "./agent-home.ts";

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown };

export type Asked = { readonly messages: readonly unknown[]; readonly tools: readonly string[]; readonly last: string };

export class AnthropicMock {
  readonly asked: Asked[] = [];
  /** What each request said about who asks. */
  readonly keys: string[] = [];
  readonly #server: Server<undefined>;
  readonly #stalled: (() => void)[] = [];
  #uses = 0;
  #refused = 0;

  constructor(tls?: { readonly key: Bun.BunFile; readonly cert: Bun.BunFile }) {
    this.#server = Bun.serve({
      ...(tls !== undefined && { tls }),
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    });
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** `busy:` begins to count anew. */
  rested(): void {
    this.#refused = 0;
  }

  /** Lets stalled answers continue. */
  release(): void {
    for (const goOn of this.#stalled.splice(0)) goOn();
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith("/count_tokens")) return Response.json({ input_tokens: 10 });
    if (!pathname.endsWith("/v1/messages")) return Response.json({});
    this.keys.push(request.headers.get("x-api-key") ?? request.headers.get("authorization") ?? "");
    const body = (await request.json()) as {
      messages: { role: string; content: unknown }[];
      tools?: { name: string }[];
      model: string;
    };
    const last = lastWords(body.messages.findLast(({ role }) => role === "user")?.content);
    const tools = (body.tools ?? []).map(({ name }) => name);
    // Titles and the like have no tools.
    if (tools.length > 0) this.asked.push({ messages: body.messages, tools, last });
    if (last.includes("limit:")) return limited(last);
    const busy = [...JSON.stringify(body.messages).matchAll(/busy: (\d)(s?)/g)].at(-1);
    if (busy !== undefined && tools.length > 0 && this.#refused < Number(busy[1]))
      return this.#tooBusy(busy[2] === "s");
    const stall = last.includes("stall:") ? new Promise<void>((goOn) => this.#stalled.push(goOn)) : Promise.resolve();
    return stream(body.model, this.#block(last), stall);
  }

  #tooBusy(isShort: boolean): Response {
    this.#refused += 1;
    const error = { type: "rate_limit_error", message: "slow down" };
    return Response.json({ type: "error", error }, { status: 429, headers: { "retry-after": isShort ? "1" : "3600" } });
  }

  #block(last: string): Block {
    // What was asked before, in another conversation, is not asked again.
    const wanted = last.includes("<history ") ? null : /^(?:run|use): *(.*)$/m.exec(last);
    if (wanted?.[1] === undefined) return { type: "text", text: `heard: ${last}` };
    this.#uses += 1;
    const id = `toolu_${String(this.#uses).padStart(4, "0")}`;
    if (wanted[0].startsWith("run:")) {
      return { type: "tool_use", id, name: "Bash", input: { command: wanted[1], description: "as asked" } };
    }
    const at = wanted[1].indexOf("{");
    return { type: "tool_use", id, name: wanted[1].slice(0, at).trim(), input: JSON.parse(wanted[1].slice(at)) };
  }
}

/** Sends an agent a message, and returns in the middle of the answer: until `release`. */
export async function stalls(place: AgentHome, mock: AnthropicMock, id: string, about: string): Promise<void> {
  await place.say(id, `stall: ${about}`);
  await until(
    "it was asked",
    () => mock.asked.some(({ last }) => last.includes(`stall: ${about}`)),
    () => mock.asked,
    AGENT_PATIENCE_MS,
  );
}

/** The newest words: a tool's result if there is one, otherwise what the person wrote. */
function lastWords(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const result = content.find((part) => part.type === "tool_result");
  if (result !== undefined)
    return `result of ${result.tool_use_id}: ${JSON.stringify(result.content)}`.replaceAll(/(run|use):/g, "$1 ");
  return (
    content
      .filter((part) => part.type === "text" && !part.text.startsWith("<system-reminder>"))
      .map((part) => part.text)
      .at(-1) ?? ""
  );
}

function limited(last: string): Response {
  const until = /limit: *(\d+)/.exec(last)?.[1] ?? "0";
  return Response.json(
    {
      type: "error",
      error: { type: "rate_limit_error", message: "This request would exceed your account's rate limit." },
    },
    {
      status: 429,
      headers: {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": until,
        "x-should-retry": "false",
      },
    },
  );
}

function stream(model: string, block: Block, stall: Promise<void>): Response {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = {
    id: `msg_${crypto.randomUUID()}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    usage,
  };
  const start = block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
  const delta =
    block.type === "text"
      ? { type: "text_delta", text: block.text }
      : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
  const first = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: start },
    { type: "content_block_delta", index: 0, delta },
  ];
  const rest = [
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: block.type === "text" ? "end_turn" : "tool_use", stop_sequence: null },
      usage,
    },
    { type: "message_stop" },
  ];
  const text = (events: readonly { type: string }[]) =>
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const body = new ReadableStream({
    async start(sink) {
      sink.enqueue(text(first));
      await stall;
      sink.enqueue(text(rest));
      sink.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
