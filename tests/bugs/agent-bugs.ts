// The deliberate bugs in the agents' part; bugs.ts defines what a bug is, and its rules.
import type { Bug } from "./bugs.ts";

const FOLDED = "{ ...record, conversation: putAway(record.conversation) }";

/** Changes every agent like this once its log has been read. */
function afterFold(change: string): string {
  return `{ ...record, conversation: putAway(record.conversation), ${change} }`;
}

export const AGENT_BUGS: readonly Bug[] = [
  {
    bug: "a spawn acknowledged before it is durable",
    how: "source",
    what: "the hands see agents as they are decided, and hand over results that are still being written",
    changes: [
      {
        file: "src/daemon/agent/part.ts",
        from: "    agent: (id) => store.settledAgent(id),\n",
        to: "    agent: (id) => store.agent(id),\n",
      },
    ],
    caughtBy: "agents: eager programs, and the machine goes down",
    says: /(spawn_agent|send_message|complete) [\s\S]* was acknowledged, and is there 0 times/,
  },
  {
    bug: "effects performed early",
    how: "source",
    what: "what a decision asks for is done when it is decided, and not when it is durable",
    changes: [
      {
        file: "src/daemon/session-store.ts",
        from: "    const refusal = await this.#becomes(ticket.durable);\n",
        to: `    for (const one of touched.keys()) for (const effect of this.#rules.effectsOf(this.#state(one))) this.#hooks.perform(effect);
    const refusal = await this.#becomes(ticket.durable);
`,
      },
    ],
    caughtBy: "agents: the machine goes down",
    says: /with a crash at \d+ it comes to|was acknowledged, and is there 0 times/,
  },
  {
    bug: "delivered when handed over",
    how: "source",
    what: "`message.delivered` is written with `turn.start`, before a process or a model has the prompt",
    changes: [
      {
        file: "src/core/agent/slots.ts",
        from: "messages: ids, uuid, at: draft.at } });\n",
        to: `messages: ids, uuid, at: draft.at } });
  for (const message_id of ids) draft.add(id, { event: "message.delivered", data: { message_id } });
`,
      },
    ],
    caughtBy: "agents: the daemon dies",
    says: /delivered, and nobody was told/,
  },
  {
    bug: "a decision in several transactions",
    how: "source",
    what: "each event of a decision is appended for itself: a call can be half carried out, a message be sent and not enqueued",
    changes: [
      {
        file: "src/daemon/session-store.ts",
        from: "      return this.#log.append(entries, over); // U5\n",
        to: `      const last = entries.pop();
      for (const entry of entries) this.#log.append([entry], over);
      return this.#log.append(last === undefined ? [] : [last], over);
`,
      },
      // A frame that they share (F5 of log/wal/frame.ts) would keep them together nearly always.
      { file: "src/log/log-options.ts", from: "  frameBytes: 4096,\n", to: "  frameBytes: 0,\n" },
    ],
    caughtBy: "agents: the power goes in mid-write",
    says: /half a message|with a crash at \d+ it comes to/,
  },
  {
    bug: "the offset committed before the events",
    how: "source",
    what: "how far a process was read is one transaction, what it said the next",
    changes: [
      {
        file: "src/daemon/agent/agent-connection.ts",
        from: "      return (await this.#ports.read(offset, events)) ?",
        to: `      await this.#ports.read(offset, []);
      return (await this.#ports.read(offset, events)) ?`,
      },
      {
        file: "src/core/agent/decide-read.ts",
        from: "offset <= agent.consumed) return; // I1",
        to: "offset < agent.consumed) return;",
      },
    ],
    caughtBy: "agents: the daemon dies",
    says: /0 processes hung, and 1 were ended for it/,
  },
  {
    bug: "the offset committed after the events",
    how: "source",
    what: "what a process said is one transaction, how far it was read the next",
    changes: [
      {
        file: "src/daemon/agent/agent-connection.ts",
        from: "      return (await this.#ports.read(offset, events)) ?",
        to: `      await this.#ports.read(this.#ports.agent()?.consumed ?? 0, events);
      return (await this.#ports.read(offset, [])) ?`,
      },
      {
        file: "src/core/agent/decide-read.ts",
        from: "offset <= agent.consumed) return; // I1",
        to: "offset < agent.consumed) return;",
      },
    ],
    caughtBy: "agents: the daemon dies",
    says: /a process is told twice: result|and was read/,
  },
  {
    bug: "a repeated call is carried out again",
    how: "source",
    what: "a call that was answered before is decided anew",
    changes: [
      {
        file: "src/core/agent/tools.ts",
        from: "  const before = callOf(draft.agent(id), call);\n",
        to: "  const before = undefined;\n",
      },
    ],
    caughtBy: "agents: the machine goes down",
    says: /was refused/,
  },
  {
    bug: "a prompt gets another id",
    how: "source",
    what: "an open prompt has a new id after a crash",
    changes: [
      {
        file: "src/core/agent/apply-process.ts",
        from: `  if (event.event === "session.restored") return { ...agent, session: { kind: "active" } };\n`,
        to: `  if (event.event === "session.restored") {
    const prompts = agent.prompts.map((one) => ({ ...one, id: one.state.kind === "open" ? \`\${one.id}-again\` : one.id }));
    return { ...agent, prompts, session: { kind: "active" } };
  }
`,
      },
    ],
    caughtBy: "agents: the daemon dies",
    says: /-again comes from nowhere/,
  },
  {
    bug: "an answer sent twice",
    how: "source",
    what: "what a holder took from an earlier daemon is handed over again",
    changes: [
      {
        file: "src/daemon/agent/agent-connection.ts",
        from: `    const taken = this.client.status?.writers["daemon"] ?? 0;\n`,
        to: "    const taken = 0;\n",
      },
    ],
    caughtBy: "agents: the daemon dies",
    says: /a process is told twice: (answer|result|prompt|open)/,
  },
  {
    bug: "an answer forgotten",
    how: "source",
    what: "an answer that the agent has not taken is not kept over a crash",
    changes: [
      {
        file: "src/core/agent/apply-process.ts",
        from: `  return { ...agent, process, calls, session: { kind: "suspended", reason } };\n`,
        to: `  const entries = agent.outbox.entries.filter(({ kind }) => kind !== "answer");
  return { ...agent, process, calls, outbox: { ...agent.outbox, entries }, session: { kind: "suspended", reason } };
`,
      },
    ],
    caughtBy: "agents: the daemon dies",
    says: /0 processes hung, and 1 were ended for it/,
  },
  {
    bug: "an old answer for a new process",
    how: "source",
    what: "an answer that the process which asked did not take is given to the next one",
    changes: [
      {
        file: "src/core/agent/prompts.ts",
        from: `  if (mayBecome(state, "the asker is gone")) draft`,
        to: `  if (state.kind === "open") draft`,
      },
      {
        file: "src/core/agent/apply-process.ts",
        from: `  const again = isHanded`,
        to: `  for (const { id, state, request, tool, input, options } of agent.prompts)
    if (state.kind === "answered")
      entries.push({ kind: "answer", prompt: id, input: { request, tool, input, decision: state.decision, message: "", options } });
  const again = isHanded`,
      },
    ],
    caughtBy: "agents: the machine goes down",
    says: /answered what it did not ask|told twice: answer/,
  },
  {
    bug: "ACTIVE stays ACTIVE",
    how: "source",
    what: "a recovery does not suspend what it finds active",
    changes: [
      {
        file: "src/daemon/agent/recovery.ts",
        from: "    await detach(recovery, agent, until);\n",
        to: "",
      },
    ],
    caughtBy: "agents: the daemon dies",
    says: /which was found active/,
  },
  {
    bug: "an inbox is empty after a crash",
    how: "source",
    what: "messages that nobody took are not back in the inbox",
    changes: [{ file: "src/daemon/agent/store.ts", from: FOLDED, to: afterFold("inbox: []") }],
    caughtBy: "agents: the daemon dies",
    says: /the inbox of [\s\S]* and the log says/,
  },
  {
    bug: "reminders are forgotten",
    how: "source",
    what: "after a crash nobody waits for the time of a reminder",
    changes: [{ file: "src/daemon/agent/store.ts", from: FOLDED, to: afterFold("reminders: []") }],
    caughtBy: "agents: the daemon dies",
    says: /(reminders of|it does not end)/,
  },
  {
    bug: "orphans live",
    how: "source",
    what: "a session without an agent is not set aside",
    changes: [
      {
        file: "src/core/agent/tree.ts",
        from: "    if (!agentRecord.created) orphans.push(agentRecord.id);\n    else if",
        to: "    if",
      },
    ],
    caughtBy: "agents: strays",
    says: /the orphan ends: \[\]/,
  },
  {
    bug: "a child without a parent is not told of",
    how: "source",
    what: "an agent whose parent is gone is taken for any other",
    changes: [
      {
        file: "src/daemon/agent/recovery.ts",
        from: "  return [...ended, ...lone];\n",
        to: "  return lone.length > 0 ? ended : [];\n",
      },
    ],
    caughtBy: "agents: strays",
    says: /strays are reported as \[\["a could not"\],\[\]\]/,
  },
  {
    bug: "crashes are forgotten",
    how: "source",
    what: "after a restart of the daemon a crash loop has its whole budget again",
    changes: [{ file: "src/daemon/agent/store.ts", from: FOLDED, to: afterFold("crashes: [], fruitless: 0") }],
    caughtBy: "agents: a crash loop, and the daemon dies",
    says: /is started after \d crashes within a minute/,
  },
  {
    bug: "a conversation without its last result",
    how: "source",
    what: "a bare LLM's conversation is rebuilt without the last result of a tool",
    changes: [
      {
        file: "src/core/agent/conversation.ts",
        from: "said: vectorOf([...first, ...itemsOf(said)]) }",
        to: 'said: vectorOf([...first, ...itemsOf(said)].filter((one, at, all) => one.role !== "tool" || at < all.length - 1)) }',
      },
    ],
    caughtBy: "agents: the daemon dies",
    says: /another past/,
  },
];
