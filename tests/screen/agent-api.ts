// The other side of Claude Code while it is recorded: just enough of its API on loopback for one conversation with a
// tool in it.

const PLAN = [
  "I'll look at the tests **first**: `npm test` — 先看看测试 😀.\n\n",
  "| file | result |\n|---|---|\n| `a.test.ts` | ✓ 12 passed |\n| `b.test.ts` | ✗ 3 failed |\n\n",
  '```ts\nexport const greeting: string = "héllo 漢字"; // a comment\n```\n',
];
const END = [
  "Done:\n\n1. *one* thing\n2. another, with a line that is long enough to go on in the next row of a narrow window\n",
];
/** One that it asks for. */
const TOOL = {
  command: "mkdir made && printf 'a\\tb\\n漢字\\n' > made/out && cat made/out",
  description: "Make a file",
};

type Block = { readonly start: object; readonly deltas: readonly object[] };

function text(parts: readonly string[]): Block {
  return { start: { type: "text", text: "" }, deltas: parts.map((part) => ({ type: "text_delta", text: part })) };
}

const tool: Block = {
  start: { type: "tool_use", id: "toolu_1", name: "Bash", input: {} },
  deltas: [{ type: "input_json_delta", partial_json: JSON.stringify(TOOL) }],
};

function answer(model: string, blocks: readonly Block[]): string {
  const usage = { input_tokens: 1200, output_tokens: 34 };
  const reason = blocks.includes(tool) ? "tool_use" : "end_turn";
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null, usage };
  const events = [
    { type: "message_start", message },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** What is asked on the side (a title, a topic) has no tools, and gets a word. */
function blocksFor(asked: string): readonly Block[] {
  if (!asked.includes('"name":"Bash"')) return [text(["words"])];
  return asked.includes('"tool_result"') ? [text(END)] : [text(PLAN), tool];
}

/** Until it is stopped. */
export function agentApi() {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const asked = await request.text();
      const { pathname } = new URL(request.url);
      if (!pathname.endsWith("/messages")) return new Response("{}", { status: 404 });
      const model: string = JSON.parse(asked).model;
      const headers = { "content-type": "text/event-stream" };
      return new Response(answer(model, blocksFor(asked)), { headers });
    },
  });
}
