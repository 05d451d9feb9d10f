// The scripted and the command provider, the stream of a bare LLM, and MCP: what crosses each boundary.
import { expect, test } from "bun:test";
import { command } from "../../src/wire/provider/command.ts";
import { answerMcp, type ToolServer } from "../../src/wire/provider/mcp.ts";
import { AnswerReader, requestOf } from "../../src/wire/provider/openai.ts";
import { refusalOf } from "../../src/wire/provider/openai-error.ts";
import { scripted } from "../../src/wire/provider/scripted.ts";
import { facts, RECIPE } from "./facts.ts";

test("a scripted program reads and writes one JSON object per line", () => {
  const told = (input: Parameters<typeof scripted.encode>[0]) => JSON.parse(scripted.encode(input, facts())?.[0] ?? "");
  expect(told({ kind: "open" })).toEqual({ type: "open", session: facts().session, resume: false, instructions: "" });
  expect(told({ kind: "prompt", uuid: "1", text: "go" })).toEqual({ type: "prompt", id: "1", text: "go" });
  expect(told({ kind: "result", call: "c", ok: true, result: 1 })).toEqual({
    type: "result",
    call: "c",
    ok: true,
    result: 1,
  });
  expect(told({ kind: "interrupt" })).toEqual({ type: "interrupt" });
  expect(
    told({ kind: "answer", request: "r", tool: "t", options: null, input: 1, decision: "deny", message: "no" }),
  ).toEqual({
    ...{ type: "answer", request: "r", decision: "deny", message: "no" },
  });
  const said = (message: object) => scripted.decode(JSON.stringify(message), facts()).events;
  expect(said({ type: "text", text: "a" })).toEqual([{ kind: "text", text: "a" }]);
  expect(said({ type: "ask", request: "r", tool: "Bash", input: { a: 1 } })).toEqual([
    { kind: "ask", request: "r", tool: "Bash", input: { a: 1 } },
  ]);
  expect(said({ type: "withdrawn", request: "r" })).toEqual([{ kind: "withdrawn", request: "r" }]);
  expect(said({ type: "call", call: "c", tool: "t", args: [] })).toEqual([
    { kind: "call", call: "c", tool: "t", args: [] },
  ]);
  expect(said({ type: "done", response: "x" })).toEqual([{ kind: "done", response: "x" }]);
  expect(said({ type: "failed", reason: "x" })).toEqual([{ kind: "failed", reason: "x", retryable: false }]);
  expect(said({ type: "limit", until: "2027" })).toEqual([{ kind: "limit", until: "2027" }]);
  expect([said({ type: "other" }), scripted.decode("{", facts()).events]).toEqual([[], []]);
});

const CURSOR = {
  command: ["cursor-agent", "-p", "{prompt}", "--output-format", "stream-json"],
  options: { resume: ["cursor-agent", "--resume", "{session}", "-p", "{prompt}"], session_path: "$.session_id" },
} as const;

test("AG-6(a) a command gets the prompt as one argument, whatever it contains, and resumes the session it named", () => {
  const prompt = "say '; rm -rf {session} $(x)";
  expect(command.launch(facts({}, CURSOR), prompt).argv).toEqual([
    "cursor-agent",
    "-p",
    prompt,
    "--output-format",
    "stream-json",
  ]);
  expect(command.launch(facts({ resume: true, named: true, session: "abc" }, CURSOR), "hi").argv).toEqual([
    ...["cursor-agent", "--resume", "abc", "-p", "hi"],
  ]);
  // D5: its first process died before it named one.
  expect(command.launch(facts({ resume: true }, CURSOR), "hi").argv).not.toContain("--resume");
  const known = facts({}, CURSOR);
  expect(command.decode('{"type":"system","session_id":"abc"}', known).events).toEqual([
    { kind: "session", session: "abc" },
  ]);
  expect(command.decode("plain", known).events).toEqual([]);
  expect(command.decode('{"session_id":"abc"}', facts()).events).toEqual([]);
});

test("D3 a value that begins with - never becomes an option of a command, and is no session", () => {
  const recipe = { ...CURSOR, model: "-m", flags: ["{model}", "--model={model}", "-p{prompt}"] };
  const { argv } = command.launch(facts({ resume: true, named: true, session: "--yolo" }, recipe), "--allow-all\n-x");
  expect(argv).toEqual([
    ...["cursor-agent", "--resume", " --yolo", "-p", " --allow-all\n-x"],
    ...[" -m", "--model=-m", "-p--allow-all\n-x"],
  ]);
  for (const session of ["--yolo", "-", "", "a\nb", "x".repeat(257)]) {
    const line = JSON.stringify({ session_id: session });
    expect([session, command.decode(line, facts({}, CURSOR)).events]).toEqual([session, []]);
  }
});

test("SP-1(a) the end of a command is the end of its turn", () => {
  const end = (code: number | null, signal: string | null, text: string, errors = "") =>
    command.ended?.({ code, signal }, { text, errors }, facts());
  expect(end(0, null, "all\nis well\n")).toEqual([{ kind: "done", response: "all\nis well" }]);
  expect(end(0, null, 'noise\n{"type":"result","result":"fine"}\n')).toEqual([{ kind: "done", response: "fine" }]);
  expect(end(3, null, "no key")).toEqual([
    { kind: "failed", reason: "It ended with exit code 3. no key", retryable: true },
  ]);
  expect(end(null, "SIGKILL", "")).toEqual([]); // D5
  expect(end(1, null, "", "not logged in\n")).toEqual([
    { kind: "failed", reason: "It ended with exit code 1. not logged in", retryable: true },
  ]);
});

test("D5 a command that is to resume, fails and prints nothing has lost its session; one that prints has failed", () => {
  const end = (text: string) =>
    command.ended?.({ code: 1, signal: null }, { text, errors: "no rollout found" }, facts({ named: true }, CURSOR));
  const lost = { kind: "failed", reason: "It ended with exit code 1. no rollout found", retryable: true } as const;
  expect(end("")).toEqual([{ ...lost, opening: true }]);
  expect(end("{}")).toEqual([{ ...lost, reason: "It ended with exit code 1. {} no rollout found" }]);
});

test("D4 with an output_path the answer is the last text it leads to, not the stream of events", () => {
  const codex = (output: string) =>
    command.ended?.(
      { code: 0, signal: null },
      { text: output, errors: "" },
      facts({}, { ...CURSOR, options: { output_path: "$.item.text" } }),
    );
  const events = [
    { type: "thread.started", thread_id: "t" },
    { type: "item.completed", item: { type: "agent_message", text: "first" } },
    { type: "item.completed", item: { type: "agent_message", text: "the answer" } },
    { type: "turn.completed", usage: { input_tokens: 1 } },
  ];
  const lines = events.map((event) => JSON.stringify(event)).join("\n");
  expect(codex(`${lines}\n`)).toEqual([{ kind: "done", response: "the answer" }]);
  expect(codex("no JSON at all\n")).toEqual([{ kind: "done", response: "no JSON at all" }]);
});

test("the same conversation always makes the same request", () => {
  const said = [
    { role: "user", text: "hi" },
    { role: "assistant", text: "", calls: [{ call: "c1", tool: "complete", args: { summary: "ok" } }] },
    { role: "tool", call: "c1", ok: true, result: "done" },
  ] as const;
  const tools = [{ name: "complete", description: "Ends it.", schema: { type: "object" } }];
  const rest = { instructions: "Be brief.", tools, forgotten: 0, isCounted: true };
  const request = requestOf({ ...rest, recipe: { ...RECIPE, model: "m1" }, said });
  expect(request).toEqual(requestOf({ ...rest, recipe: { ...RECIPE, model: "m1" }, said: structuredClone(said) }));
  expect(request).toMatchObject({
    model: "m1",
    stream: true,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
      { role: "assistant", tool_calls: [{ id: "c1", function: { name: "complete", arguments: '{"summary":"ok"}' } }] },
      { role: "tool", tool_call_id: "c1", content: "done" },
    ],
  });
});

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

test("an answer is decoded from its stream however it is split, and half of one is discarded", () => {
  const call = (index: number, rest: object) => chunk({ tool_calls: [{ index, ...rest }] });
  const whole = [
    ...[": comment\n", chunk({ role: "assistant", content: "Hé" }), chunk({ content: "llo" })],
    ...[
      call(0, { id: "c1", function: { name: "complete", arguments: '{"a"' } }),
      call(0, { function: { arguments: ":1}" } }),
    ],
    ...[chunk({}, "tool_calls"), "data: [DONE]\n\n"],
  ].join("");
  for (let cut = 0; cut <= whole.length; cut += 7) {
    const reader = new AnswerReader();
    for (const piece of [whole.slice(0, cut), whole.slice(cut)]) reader.feed(piece);
    expect(reader.isOver).toBe(true);
    expect(reader.end()).toEqual({
      kind: "said",
      text: "Héllo",
      calls: [{ call: "c1", tool: "complete", args: { a: 1 } }],
      usage: undefined,
    });
  }
  const half = new AnswerReader();
  half.feed(chunk({ content: "Hé" }));
  expect(half.end()).toEqual({ kind: "failed", reason: "The answer broke off.", retryable: true });
});

test("O3 an answer without an end is a failure, as one line or as many, and is not tried again", () => {
  const most = 4 << 20;
  const called = { index: 0, id: "c", function: { name: "t", arguments: "x".repeat(most / 4) } };
  const pieces = ["x".repeat(most / 4), chunk({ content: "x".repeat(most / 4) }), chunk({ tool_calls: [called] })];
  for (const piece of pieces) {
    const reader = new AnswerReader();
    for (let times = 0; times < 5; times += 1) reader.feed(piece);
    expect(reader.end()).toEqual({ kind: "failed", reason: "The answer is too long.", retryable: false });
  }
});

test("O3 the calls of an answer are bounded: how many, how long their ids, and what stands around them", () => {
  const call = (index: number, id: string) => chunk({ tool_calls: [{ index, id, function: { name: "" } }] });
  const endings = (pieces: Iterable<string>) => {
    const reader = new AnswerReader();
    let fed = 0;
    for (const piece of pieces) {
      if (reader.isOver) break;
      reader.feed(piece);
      fed += 1;
    }
    return [fed, reader.end()];
  };
  const failed = (reason: string) => ({ kind: "failed", reason, retryable: false }) as const;
  const forever = function* (piece: (index: number) => string) {
    for (let index = 0; index < 100_000; index += 1) yield piece(index);
  };
  expect(endings(forever((index) => call(index, "")))).toEqual([129, failed("The answer is too long.")]);
  expect(endings([call(0, "x".repeat(256)), call(1, "x".repeat(257)), chunk({}, "stop")])).toEqual([
    2,
    failed("The id of a call is too long."),
  ]);
  const comment = `: ${"x".repeat(1 << 20)}\n`;
  expect(endings(forever(() => comment))).toEqual([256, failed("The answer is too long.")]);
});

test("an error in the middle of a stream, arguments that are not JSON and a refused request are failures with a reason", () => {
  const broken = new AnswerReader();
  broken.feed('data: {"error":{"message":"overloaded"}}\n');
  expect(broken.end()).toEqual({ kind: "failed", reason: "overloaded", retryable: true });
  const bad = new AnswerReader();
  bad.feed(chunk({ tool_calls: [{ index: 0, id: "c", function: { name: "t", arguments: "{" } }] }, "tool_calls"));
  expect(bad.end()).toMatchObject({ kind: "failed", retryable: true });
  const wait = { "retry-after": "2" };
  expect(refusedWith(429, '{"error":{"message":"slow down"}}', wait)).toEqual({
    failure: { kind: "failed", reason: "429: slow down", retryable: true, passing: true },
    afterMs: 2000,
  });
  expect(refusedWith(401, "no key")).toEqual({
    failure: { kind: "failed", reason: "401: no key", retryable: false },
    afterMs: undefined,
  });
});

const NOW = Date.parse("2026-01-01T00:00:00Z");

function refusedWith(status: number, body: string, headers: Readonly<Record<string, string>> = {}) {
  return refusalOf(status, body, (name) => headers[name] ?? null, NOW);
}

test("OE1 when an endpoint may be asked again is a number of seconds or milliseconds, or a date", () => {
  const after = (headers: Readonly<Record<string, string>>) => refusedWith(429, "{}", headers).afterMs;
  expect(after({ "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" })).toBe(60_000);
  expect(after({ "retry-after": "30", "retry-after-ms": "1500" })).toBe(1_500);
  expect([{ "retry-after": "soon" }, { "retry-after": "-1" }, {}].map(after)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(refusedWith(400, "{}", { "retry-after": "30" }).afterMs).toBeUndefined();
});

test.each([
  [
    "This model's maximum context length is 8,192 tokens. However, your messages resulted in 9,001 tokens.",
    { limit: 8192, used: 9001 },
  ],
  [
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens.",
    { limit: 131_072, used: 140_000 },
  ],
  ["prompt is too long: 210000 tokens > 200000 maximum", { limit: 200_000, used: 210_000 }],
  [
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    { limit: 1_048_576, used: 1_200_000 },
  ],
  [
    "the request (5000) exceeds the available context size (4096 tokens), try increasing it",
    { limit: 4096, used: 5000 },
  ],
  ["Input exceeds the context window of this model.", {}],
])("OE1 a conversation that is too long is known by the endpoint's words: %p", (message, context) => {
  const { failure } = refusedWith(400, JSON.stringify({ error: { message } }));
  expect(failure).toEqual({ kind: "failed", reason: `400: ${message}`, retryable: false, context });
});

test("OE1 a conversation that is too long is known by the name of the error, also in the middle of a stream", () => {
  const error = { type: "exceed_context_size_error", n_ctx: 4096, n_prompt_tokens: 5000, message: "no" };
  expect(refusedWith(400, JSON.stringify({ error })).failure.context).toEqual({ limit: 4096, used: 5000 });
  const reader = new AnswerReader();
  reader.feed('data: {"error":{"code":"context_length_exceeded","message":"too long"}}\n');
  expect(reader.end()).toEqual({ kind: "failed", reason: "too long", retryable: false, context: {} });
  expect(refusedWith(400, '{"error":{"message":"bad image"}}').failure).not.toHaveProperty("context");
});

const SERVER: ToolServer = {
  version: "1",
  tools: [{ name: "complete", description: "Ends it.", schema: { type: "object" } }],
  call: async (tool, args, request) => ({ ok: tool === "complete", value: { args, request } }),
};

test("MCP: a tool server answers its clients, and keeps no state between two messages", async () => {
  const ask = async (message: object) => JSON.parse((await answerMcp(JSON.stringify(message), SERVER)) ?? "null");
  expect(await ask({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } })).toMatchObject({
    result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "holdfast" } },
  });
  expect(await ask({ id: 1, method: "initialize", params: { protocolVersion: "1999-01-01" } })).toMatchObject({
    result: { protocolVersion: "2025-11-25" },
  });
  expect(await ask({ method: "notifications/initialized" })).toBeNull();
  expect(await ask({ id: 2, method: "ping" })).toMatchObject({ id: 2, result: {} });
  expect(await ask({ id: 3, method: "tools/list" })).toMatchObject({
    result: { tools: [{ name: "complete", inputSchema: {} }] },
  });
  expect(await ask({ id: "x", method: "tools/call", params: { name: "complete", arguments: { a: 1 } } })).toMatchObject(
    {
      id: "x",
      result: { isError: false, structuredContent: { args: { a: 1 }, request: '"x"' } },
    },
  );
  expect(await ask({ id: 4, method: "tools/call", params: { name: "other" } })).toMatchObject({
    error: { code: -32_602 },
  });
  expect(await ask({ id: 5, method: "resources/list" })).toMatchObject({ error: { code: -32_601 } });
  expect(JSON.parse((await answerMcp("{", SERVER)) ?? "")).toMatchObject({ error: { code: -32_700 } });
});
