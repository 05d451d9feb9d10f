// `answer --always` with what real agents ask, as they wrote it: Claude 2.1.197, opencode 1.18.33, codex-acp 0.16.0
// and Gemini CLI 0.61.0. A rule is about exactly what was allowed: the same again is not asked, and nothing else runs.
import { expect, test } from "bun:test";
import type { Codec, ProviderEvent } from "../../src/core/agent/provider.ts";
import { acp } from "../../src/wire/provider/acp.ts";
import { claude } from "../../src/wire/provider/claude.ts";
import { listedRules } from "../../src/wire/rpc/listed-agent.ts";
import { facts } from "./facts.ts";
import { AgentFixture } from "./house.ts";

/** `number` tells apart what is new in every request: its id, and that of its call. */
type Recorded = {
  readonly from: string;
  readonly codec: Codec;
  readonly tool: string;
  line(number: number, what: string): object;
};

const asked = (number: number, toolCall: object) => ({
  ...{ jsonrpc: "2.0", id: number, method: "session/request_permission" },
  params: { sessionId: "s", toolCall, options: [{ optionId: "once", kind: "allow_once", name: "Allow once" }] },
});

const control = (number: number, request: object) => ({
  ...{ type: "control_request", request_id: `52a99459-${number}` },
  request: { subtype: "can_use_tool", tool_use_id: `toolu_000${number}`, ...request },
});

const RECORDED: readonly Recorded[] = [
  {
    from: "Claude Code's Bash",
    codec: claude,
    tool: "Bash",
    line: (number, command) =>
      control(number, {
        ...{ tool_name: "Bash", display_name: "Bash", input: { command, description: "as asked" } },
        ...{ description: "as asked", blocked_path: "/w/a" },
        permission_suggestions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
      }),
  },
  {
    from: "Claude Code's Write",
    codec: claude,
    tool: "Write",
    line: (number, content) =>
      control(number, { tool_name: "Write", display_name: "Write", input: { file_path: "/w/f.txt", content } }),
  },
  {
    from: "opencode's bash",
    codec: acp,
    tool: "execute",
    line: (number, command) =>
      asked(number, {
        ...{ toolCallId: `call_${number}`, title: command, kind: "execute", status: "pending", locations: [] },
        rawInput: { command },
      }),
  },
  {
    from: "opencode's write",
    codec: acp,
    tool: "edit",
    line: (number, text) =>
      asked(number, {
        ...{ toolCallId: `call_${number}`, title: "/w/f.txt", kind: "edit", status: "pending" },
        rawInput: { filepath: "/w/f.txt", diff: `--- /w/f.txt\n+++ /w/f.txt\n@@ -0,0 +1,1 @@\n+${text}\n` },
        content: [{ type: "diff", path: "/w/f.txt", oldText: "", newText: text }],
      }),
  },
  {
    from: "codex-acp's command, a list among names that are new in every call",
    codec: acp,
    tool: "execute",
    line: (number, command) =>
      asked(number, {
        ...{ toolCallId: `call_${number}`, kind: "execute", status: "pending", title: command },
        rawInput: {
          ...{ call_id: `call_${number}`, turn_id: `01a1ef57-${number}`, started_at_ms: 1_795_016_850_213 + number },
          ...{ command: ["/bin/bash", "-lc", command], cwd: "/w", proposed_execpolicy_amendment: command.split(" ") },
          ...{ available_decisions: ["approved", "abort"], parsed_cmd: [{ type: "unknown", cmd: command }] },
        },
      }),
  },
  {
    from: "Gemini CLI's execute, with the command in its title",
    codec: acp,
    tool: "execute",
    line: (number, command) =>
      asked(number, {
        ...{ toolCallId: `run_shell_command_${number}`, status: "pending", title: command, kind: "execute" },
        content: [{ type: "content", content: { type: "text", text: "[current working directory /w] (as asked)" } }],
        locations: [],
      }),
  },
  {
    from: "Gemini CLI's edit",
    codec: acp,
    tool: "edit",
    line: (number, text) =>
      asked(number, {
        ...{ toolCallId: `write_file_${number}`, status: "pending", title: "Writing to f.txt", kind: "edit" },
        content: [{ type: "diff", path: "/w/f.txt", oldText: "", newText: text, _meta: { kind: "add" } }],
        locations: [{ path: "/w/f.txt" }],
      }),
  },
];

const [ALLOWED, OTHER] = ["touch a", "touch a; rm -rf /"];

function fixtureFor({ codec }: Recorded): AgentFixture {
  const fixture = new AgentFixture();
  fixture.create("a", { provider: codec === claude ? "claude" : "acp" });
  fixture.send("a", "m1");
  fixture.start("a");
  return fixture;
}

function eventsOf({ codec, line }: Recorded, number: number, what: string): readonly ProviderEvent[] {
  return codec.decode(JSON.stringify(line(number, what)), facts()).events;
}

for (const recorded of RECORDED)
  test(`${recorded.from}: what was always allowed is not asked again, and anything else is`, () => {
    const fixture = fixtureFor(recorded);
    const openTools = () =>
      fixture.agent("a").prompts.flatMap(({ tool, state }) => (state.kind === "open" ? [tool] : []));
    fixture.says("a", ...eventsOf(recorded, 1, ALLOWED));
    expect(openTools()).toEqual([recorded.tool]);
    const [prompt] = fixture.agent("a").prompts;
    const answer = { decision: "allow", message: "", always: true } as const;
    fixture.do({ kind: "answer", id: "a", prompt: prompt?.id ?? "", answer: "x", ...answer });
    fixture.says("a", ...eventsOf(recorded, 2, ALLOWED));
    expect(openTools()).toEqual([]);
    expect(fixture.agent("a").prompts.at(-1)?.state).toMatchObject({ kind: "answered", decision: "allow", by: "rule" });
    fixture.says("a", ...eventsOf(recorded, 3, OTHER));
    expect(openTools()).toEqual([recorded.tool]);
  });

test("an argument that is only called like the id of a call is part of the input", () => {
  const line = (call_id: string) =>
    JSON.stringify(asked(1, { toolCallId: "call_1", kind: "other", rawInput: { call_id, turn_id: "t" } }));
  const inputOf = (call_id: string) => acp.decode(line(call_id), facts()).events[0];
  expect(inputOf("call_1")).toMatchObject({ input: {} });
  expect(inputOf("another")).toMatchObject({ input: { call_id: "another", turn_id: "t" } });
});

test("the rules of an agent go with it", () => {
  const fixture = new AgentFixture();
  fixture.create("a");
  const rule = { rule_id: "r1", decision: "allow", tool: "Bash", args: {}, message: "" };
  fixture.do({ kind: "rule-add", id: "a", rule });
  const ids = () => listedRules(fixture.agentRecords.values()).map((one) => one.rule.rule_id);
  expect(ids()).toEqual(["r1"]);
  fixture.do({ kind: "terminate", id: "a", reason: "" });
  expect(ids()).toEqual([]);
});
