// The protocols of the models that real agents call: OpenAI's chat completions (opencode), OpenAI's responses (codex),
// and Gemini's.
import type { Answer, Protocol } from "./model.ts";

function listIn(body: { readonly [name: string]: unknown }, name: string): readonly object[] {
  const found = body[name];
  return Array.isArray(found) ? found : [];
}

/** The arguments of the tool that is called, as opencode names them. */
function chatCall(answer: Exclude<Answer, { kind: "text" }>, request: number) {
  const [name, args] =
    answer.kind === "run"
      ? ["bash", { command: answer.command, description: "as asked" }]
      : ["write", { filePath: answer.file, content: "written" }];
  return [{ index: 0, id: `call_${request}`, type: "function", function: { name, arguments: JSON.stringify(args) } }];
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
});

export const chat: Protocol = {
  path: /\/chat\/completions$/,
  messages: (body) => listIn(body, "messages"),
  isResult: (message) => "role" in message && message.role === "tool",
  events: (answer, request) =>
    answer.kind === "text"
      ? [[chunk({ role: "assistant", content: "" })], [chunk({ content: answer.text }), chunk({}, "stop")]]
      : [[], [chunk({ role: "assistant", tool_calls: chatCall(answer, request) }), chunk({}, "tool_calls")]],
};

function responseItem(answer: Answer, request: number, body: { readonly [name: string]: unknown }) {
  const text = answer.kind === "text" ? answer.text : "";
  const content = [{ type: "output_text", text, annotations: [] }];
  if (answer.kind === "text") return { type: "message", id: `msg_${request}`, role: "assistant", content };
  const command = answer.kind === "run" ? answer.command : `echo written > ${answer.file}`;
  const names = listIn(body, "tools").map((tool) => ("name" in tool ? String(tool.name) : ""));
  const call = { type: "function_call", id: `fc_${request}`, call_id: `call_${request}` };
  // Which of its shell tools codex offers depends on the model.
  if (names.includes("exec_command"))
    return { ...call, name: "exec_command", arguments: JSON.stringify({ cmd: command }) };
  return { ...call, name: "shell", arguments: JSON.stringify({ command: ["bash", "-c", command] }) };
}

export const responses: Protocol = {
  path: /\/responses$/,
  messages: (body) => listIn(body, "input"),
  isResult: (message) => "type" in message && String(message.type).endsWith("_output"),
  events: (answer, request, body) => {
    const id = `resp_${request}`;
    const item = responseItem(answer, request, body);
    const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null };
    const done = { id, output: [item], usage: { ...usage, total_tokens: 2 } };
    return [
      [{ type: "response.created", response: { id } }],
      [
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: done },
      ],
    ];
  },
};

function geminiPart(answer: Answer) {
  if (answer.kind === "text") return { text: answer.text };
  if (answer.kind === "run")
    return {
      functionCall: { name: "run_shell_command", args: { command: answer.command, description: "as asked" } },
    };
  return { functionCall: { name: "write_file", args: { file_path: answer.file, content: "written" } } };
}

export const gemini: Protocol = {
  path: /:(?:streamGenerateContent|generateContent)$/,
  messages: (body) => listIn(body, "contents"),
  isResult: (message) => JSON.stringify(message).includes("functionResponse"),
  events: (answer) => {
    const content = { role: "model", parts: [geminiPart(answer)] };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    return [[], [{ candidates: [{ content, finishReason: "STOP", index: 0 }], usageMetadata }]];
  },
};
