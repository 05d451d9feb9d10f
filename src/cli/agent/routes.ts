// The commands on agents: what they are called and take.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { choiceFlag, countFlag, type DataFlags, flag, home, newName, proposing, text, textFlag } from "../flags.ts";
import type { SetFlags, TerminateFlags } from "./change.ts";
import type { AgentLogFlags, FollowFlags } from "./history.ts";
import type { NewAgentFlags } from "./new.ts";
import type { SendAgentFlags } from "./send.ts";
import { workspaceFlags } from "./workspace.ts";

const ROW =
  "{id, name, state, provider, inbox, prompts: [{id, tool, since}], parent, model, cwd, createdAt, turns, turnStartedAt, pid, note}";
const POLICIES = ["auto", "parent", "ask", "never"] as const;

export const agent = {
  parse: text,
  placeholder: "agent",
  brief: "An agent's name (or parent/name), its id, or the beginning of its id",
  proposeCompletions: proposing("agent"),
} as const;

const one = { kind: "tuple", parameters: [agent] } as const;
const words = { parse: text, placeholder: "text", brief: "The text; - reads it from the input" } as const;
const message = { kind: "tuple", parameters: [agent, words] } as const;
const row = flag(`One JSON object ${ROW}`);

const settings = {
  recovery: choiceFlag(
    POLICIES,
    "After a crash in a turn: auto goes on, parent waits for a word of its parent, ask for yours, never for `agent retry`",
  ),
  recoveryPrompt: textFlag("text", "What it is told where its process died in a turn"),
  hungAfter: textFlag("time", "A process that is silent this long in a turn is ended and resumed: 30s, 5m"),
  promptTtl: textFlag("time", "How long its prompts wait without a sign of you before they are denied [default = 7d]"),
  promptAfter: textFlag("time", "For agents nobody watches: how long a prompt waits for --prompt-default"),
  promptDefault: choiceFlag(["allow", "deny", "none"], "What is decided then; none takes it back"),
  sleepOnLimit: {
    kind: "boolean",
    optional: true,
    brief: "Whether a usage limit makes it sleep until it is over; else its turn fails",
  },
} as const;

const create = buildCommand<NewAgentFlags, [name: string], Context>({
  loader: async () => (await import("./new.ts")).newAgentCommand,
  parameters: {
    flags: {
      home,
      provider: textFlag("provider", "A kind (claude, acp, openai, command, scripted), or a [provider.NAME] of yours"),
      model: textFlag("model", "The provider's model"),
      parent: { ...textFlag("agent", "The agent it belongs to"), proposeCompletions: proposing("agent") },
      instructions: textFlag("text", "What it is to do: its first message. - reads it from the input"),
      systemPrompt: textFlag("text", "What it is told about itself"),
      cwd: textFlag("dir", "Where it works [default = here; with a parent, where that works]"),
      permissionMode: textFlag("mode", "The provider's permission mode; it never changes afterwards"),
      ...workspaceFlags,
      ...settings,
      json: row,
    },
    positional: { kind: "tuple", parameters: [newName] },
  },
  docs: {
    brief: "Make an agent: holdfast agent new <name> [-- command …]",
    customUsage: ["[--provider provider] [--model model] [--instructions text] [--cwd dir] <name> [-- <command> …]"],
    fullDescription: [
      "Makes an agent and prints its id. It is on disk when this returns; with instructions it begins at once.",
      "A command behind -- is run instead of the provider's own; acp, command and scripted have none of their own.",
      "docs/AGENTS.md begins with an agent that needs no key.",
    ].join("\n"),
  },
});

const send = buildCommand<SendAgentFlags, [agent: string, text: string], Context>({
  loader: async () => (await import("./send.ts")).sendAgentCommand,
  parameters: {
    flags: { home, replyTo: textFlag("message", "The id of the message it answers"), json: row },
    positional: message,
  },
  docs: { brief: "Put a message into an agent's inbox; an idle agent is woken by it" },
});

const ask = buildCommand<DataFlags, [agent: string, text: string], Context>({
  loader: async () => (await import("./ask.ts")).askCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {id, name, outcome, turn, response, reason, prompts}") },
    positional: message,
  },
  docs: {
    brief: "Send a message, wait for the turn that takes it, and print the response",
    fullDescription: [
      "Waits through crashes and restarts of the daemon. Ctrl-C stops waiting; the agent goes on.",
      "Exit code 0: answered. 1: the turn failed, or the agent crashed or was terminated. 3: the agent waits for a person.",
    ].join("\n"),
  },
});

const tree = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./tree.ts")).treeCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${ROW.slice(0, -1)}, children}`) } },
  docs: { brief: "Show all agents, each below its parent: state, turn, inbox, waiting prompts" },
});

const inspect = buildCommand<DataFlags, [agent: string], Context>({
  loader: async () => (await import("./inspect.ts")).inspectCommand,
  parameters: {
    flags: { home, json: flag(`One JSON object ${ROW.slice(0, -1)}, settings, session, lastText, result, …}`) },
    positional: one,
  },
  docs: { brief: "Show everything about one agent" },
});

const inbox = buildCommand<DataFlags, [agent: string], Context>({
  loader: async () => (await import("./inspect.ts")).inboxCommand,
  parameters: {
    flags: {
      home,
      json: flag("One JSON array of {message_id, sender, recipient, kind, payload, timestamp, reply_to}"),
    },
    positional: one,
  },
  docs: { brief: "Show the messages that an agent has not taken yet" },
});

const log = buildCommand<AgentLogFlags, [agent: string], Context>({
  loader: async () => (await import("./history.ts")).agentLogCommand,
  parameters: {
    flags: {
      home,
      lines: countFlag("1000", "How many events, the last ones"),
      all: flag("Every event as it is on disk, bookkeeping too"),
      json: flag("One JSON array of entries"),
    },
    aliases: { n: "lines" },
    positional: one,
  },
  docs: {
    brief: "Print what an agent did, also after its end",
    fullDescription: "Only reads the disk: it works while the daemon is down, and for agents that were terminated.",
  },
});

const follow = buildCommand<FollowFlags, [agent: string], Context>({
  loader: async () => (await import("./history.ts")).followCommand,
  parameters: {
    flags: {
      home,
      lines: countFlag("10", "How many events to begin with"),
      json: flag("One JSON object a line: the entries of its log"),
    },
    aliases: { n: "lines" },
    positional: one,
  },
  docs: {
    brief: "Watch an agent: what it says, which tools it uses, what it asks, how its turns end",
    fullDescription: "Goes on through crashes and restarts of the daemon, until Ctrl-C or the agent's end.",
  },
});

const terminate = buildCommand<TerminateFlags, [agent: string], Context>({
  loader: async () => (await import("./change.ts")).terminateCommand,
  parameters: { flags: { home, reason: textFlag("text", "Why; its parent is told"), json: row }, positional: one },
  docs: { brief: "End an agent for good, and the agents below it" },
});

const retry = buildCommand<DataFlags, [agent: string], Context>({
  loader: async () => (await import("./change.ts")).retryCommand,
  parameters: { flags: { home, json: row }, positional: one },
  docs: { brief: "Let an agent go on that crashed for good, sleeps, or waits after a crash" },
});

const interrupt = buildCommand<DataFlags, [agent: string], Context>({
  loader: async () => (await import("./change.ts")).interruptCommand,
  parameters: { flags: { home, json: row }, positional: one },
  docs: { brief: "Tell an agent to stop its turn; it stays for the next message" },
});

const suspend = buildCommand<DataFlags, [agent: string], Context>({
  loader: async () => (await import("./change.ts")).suspendCommand,
  parameters: { flags: { home, json: row }, positional: one },
  docs: { brief: "End the process of an agent that has no turn; the next message resumes it" },
});

const set = buildCommand<SetFlags, [agent: string], Context>({
  loader: async () => (await import("./change.ts")).setCommand,
  parameters: { flags: { home, ...settings, json: row }, positional: one },
  docs: { brief: "Change how an agent recovers, when it is hung, and what becomes of its prompts" },
});

const agents = buildRouteMap({
  routes: {
    ...{ new: create, send, ask, tree, inspect, inbox, log, follow },
    ...{ terminate, retry, interrupt, suspend, set },
  },
  docs: { brief: "Agents: a tree of them, their messages, their turns (docs/AGENTS.md)" },
});

export const agentRoutes = { agent: agents };
