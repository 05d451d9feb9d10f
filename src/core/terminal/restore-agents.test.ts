// Agent CLIs that come back: in which conversation, and without which key.
import { expect, test } from "bun:test";
import { agentIn } from "./agent-names.ts";
import { type AgentSessions, resumeAgent } from "./coding-agent.ts";
import { type Aim, messageOf, sessionSeen, unsetNotes } from "./restore.ts";

const ID = "0f7a2f8e-1111-4222-8333-444455556666";
const OTHER = "0f7a2f8e-1111-4222-8333-777788889999";

test("what is not stored is named with the setting that stores it, and an agent without its key says what to do", () => {
  const unset = ["A_KEY", "ANTHROPIC_API_KEY"];
  expect(unsetNotes([], ["claude"])).toEqual([]);
  expect(unsetNotes(unset, ["bash"])).toEqual([
    "not stored, and so unset: A_KEY, ANTHROPIC_API_KEY",
    '`terminal.env_allow = ["A_KEY", "ANTHROPIC_API_KEY"]` in the configuration stores them on disk from now on',
  ]);
  const notes = unsetNotes(unset, ["claude", "--resume", ID]);
  expect(notes).toEqual([
    "not stored, and so unset: A_KEY, ANTHROPIC_API_KEY",
    "claude has no ANTHROPIC_API_KEY: end it, export that here, and start it again",
    '`terminal.env_allow = ["ANTHROPIC_API_KEY"]` in the configuration stores it on disk from now on',
  ]);
  const banner = messageOf({ reason: "the machine went down", when: "now" }, notes);
  for (const note of notes) expect(banner).toContain(note); // Nothing of it is cut.
});

test("AC3 the conversation that an agent was seen in counts more than its command line, and is begun if it is not there", () => {
  const resumed = (words: string, sessions: AgentSessions) => {
    const command = agentIn(words.split(" "));
    return command && resumeAgent(command, sessions)?.join(" ");
  };
  const claude = `claude --resume ${ID} --model opus`;
  expect(resumed(claude, { known: [ID, OTHER], recent: [ID], seen: OTHER })).toBe(
    `claude --resume ${OTHER} --model opus`,
  );
  expect(resumed(claude, { known: [ID], recent: [ID], seen: OTHER })).toBe(`claude --session-id ${OTHER} --model opus`);
  expect(resumed("opencode .", { known: [], recent: [], seen: "ses_e10a88732ffe" })).toBe(
    "opencode --session ses_e10a88732ffe .",
  );
  expect(resumed("cursor-agent", { known: [], recent: [ID], seen: ID })).toBeUndefined();
});

test("a conversation belongs to the agent that was seen in it", () => {
  const aim = (command: readonly string[]): Aim => ({
    ...{ shell: ["bash"], command, cwd: "/w", origin: {}, since: undefined },
    agent: { name: "claude", session: ID },
  });
  expect([aim(["claude"]), aim(["codex"]), aim(["vim"])].map(sessionSeen)).toEqual([{ seen: ID }, {}, {}]);
});
