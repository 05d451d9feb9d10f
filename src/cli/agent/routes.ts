// The agent commands: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import {
  allHomes,
  choiceFlag,
  countFlag,
  type DataFlags,
  described,
  flag,
  home,
  newName,
  proposing,
  text,
  textFlag,
} from "../flags.ts";
import { anyFlags } from "../fleet/any-flags.ts";
import type { RetryFlags, SetFlags, TerminateFlags } from "./change.ts";
import type { FetchFlags } from "./fetch.ts";
import type { AgentLogFlags, FollowFlags } from "./history.ts";
import type { NewAgentFlags } from "./new.ts";
import type { SendAgentFlags } from "./send.ts";
import type { TreeFlags } from "./tree.ts";
import { workspaceFlags } from "./workspace-flags.ts";

const ROW = [
  "{id, name, state, provider, inbox, prompts: [{id, tool, since}], parent, model, cwd, createdAt,",
  "turns, turnStartedAt, pid, note, failure?, usage?, lane?}",
].join(" ");
const POLICIES = ["auto", "parent", "ask", "never"] as const;

export const agent = {
  parse: text,
  placeholder: "agent",
  brief: "An agent's name (or parent/name), its id, or a prefix of its id",
  proposeCompletions: proposing("agent"),
} as const;

const one = { kind: "tuple", parameters: [agent] } as const;
const words = { parse: text, placeholder: "text", brief: "The text; - reads it from standard input" } as const;
const message = { kind: "tuple", parameters: [agent, words] } as const;
const row = flag(`One JSON object ${ROW}`);

const settings = {
  recovery: choiceFlag(
    POLICIES,
    "After a crash in a turn: auto continues, parent and ask wait for the parent or you, never for `agent retry`",
  ),
  recoveryPrompt: textFlag("text", "What to tell it if its process died in a turn"),
  hungAfter: textFlag("time", "End and resume a process that is silent this long in a turn: 30s, 5m"),
  promptTtl: textFlag(
    "time",
    "How long its prompts wait without hearing from you before they are denied [default = 7d]",
  ),
  promptAfter: textFlag("time", "For unattended agents: how long a prompt waits before --prompt-default applies"),
  promptDefault: choiceFlag(["allow", "deny", "none"], "The decision after --prompt-after; none removes it"),
  sleepOnLimit: {
    kind: "boolean",
    optional: true,
    brief: "Sleep through usage limits; otherwise the turn fails",
  },
} as const;

const create = buildCommand<NewAgentFlags, [name: string], Context>({
  loader: async () => (await import("./new.ts")).newAgentCommand,
  parameters: {
    flags: {
      home,
      provider: textFlag("provider", "A kind (claude, acp, openai, command, scripted), or one of your [provider.NAME]"),
      model: textFlag("model", "The provider's model"),
      parent: { ...textFlag("agent", "The agent it belongs to"), proposeCompletions: proposing("agent") },
      lane: textFlag(
        "lane",
        "The lane it belongs to [default = the parent's, that of the terminal you are in, or main]",
      ),
      instructions: textFlag("text", "Its task, sent as its first message. - reads it from standard input"),
      systemPrompt: textFlag("text", "The system prompt"),
      cwd: textFlag("dir", "Its working directory [default = here, or the parent's]"),
      permissionMode: textFlag("mode", "The provider's permission mode; it cannot be changed later"),
      ...workspaceFlags,
      ...settings,
      ...anyFlags,
      json: row,
    },
    positional: { kind: "tuple", parameters: [newName] },
  },
  docs: {
    ...described(
      "Create an agent",
      "Creates an agent and prints its id. It is on disk when this returns; with instructions it starts at once.",
      "A command after -- is run instead of the provider's own; acp, command and scripted have none of their own.",
      "docs/AGENTS.md starts with an agent that needs no key.",
    ),
    customUsage: ["[--provider provider] [--model model] [--instructions text] [--cwd dir] <name> [-- <command> …]"],
  },
});

const send = buildCommand<SendAgentFlags, [agent: string, text: string], Context>({
  loader: async () => (await import("./send.ts")).sendAgentCommand,
  parameters: {
    flags: { home, replyTo: textFlag("message", "The id of the message it answers"), json: row },
    positional: message,
  },
  docs: { brief: "Put a message into an agent's inbox; this wakes an idle agent" },
});

const ask = buildCommand<DataFlags, [agent: string, text: string], Context>({
  loader: async () => (await import("./ask.ts")).askCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {id, name, outcome, turn, response, reason, prompts}") },
    positional: message,
  },
  docs: described(
    "Send a message, wait for the turn that handles it, and print the response",
    "Waits through crashes and restarts of the daemon. Ctrl-C stops waiting; the agent continues.",
    "Exit code 0: answered. 1: the turn failed, or the agent crashed or was terminated. 3: it waits for a person.",
  ),
});

const tree = buildCommand<TreeFlags, [], Context>({
  loader: async () => (await import("./tree.ts")).treeCommand,
  parameters: {
    flags: {
      home,
      all: allHomes,
      json: flag(`One JSON array of ${ROW.slice(0, -1)}, children}; with --all also {host, home, ageMs}`),
    },
  },
  docs: { brief: "Show all agents, each below its parent: state, turn, inbox, open prompts" },
});

const inspect = buildCommand<DataFlags, [agent: string], Context>({
  loader: async () => (await import("./inspect.ts")).inspectCommand,
  parameters: {
    flags: { home, json: flag(`One JSON object ${ROW.slice(0, -1)}, settings, session, lastText, result, …}`) },
    positional: one,
  },
  docs: { brief: "Show everything about one agent" },
});

const unread = buildCommand<DataFlags, [agent: string], Context>({
  loader: async () => (await import("./inspect.ts")).inboxCommand,
  parameters: {
    flags: {
      home,
      json: flag("One JSON array of {message_id, sender, recipient, kind, payload, timestamp, reply_to}"),
    },
    positional: one,
  },
  docs: { brief: "Show an agent's unread messages" },
});

const letter = {
  parse: text,
  placeholder: "message",
  brief: "A message's id, or its beginning (agent inbox)",
} as const;

const drop = buildCommand<DataFlags, [agent: string, message: string], Context>({
  loader: async () => (await import("./change.ts")).dropCommand,
  parameters: {
    flags: { home, json: row },
    positional: { kind: "tuple", parameters: [agent, letter] },
  },
  docs: described(
    "Remove an unread message, which the agent then never gets",
    "Its log keeps it. A message that the agent is working on cannot be removed: interrupt its turn first.",
  ),
});

const edit = buildCommand<DataFlags, [agent: string, message: string, text: string], Context>({
  loader: async () => (await import("./change.ts")).editCommand,
  parameters: { flags: { home, json: row }, positional: { kind: "tuple", parameters: [agent, letter, words] } },
  docs: described(
    "Replace the text of an unread message",
    "For a message that made a turn fail; `agent retry` then tries again. The log keeps the old text.",
  ),
});

const inbox = buildRouteMap<"show" | "drop" | "edit", Context>({
  routes: { show: unread, drop, edit },
  defaultCommand: "show",
  docs: { brief: "Show an agent's unread messages, remove or change one" },
});

const log = buildCommand<AgentLogFlags, [agent: string], Context>({
  loader: async () => (await import("./history.ts")).agentLogCommand,
  parameters: {
    flags: {
      home,
      lines: countFlag("1000", "How many of the last lines; with --all or --json, how many events"),
      all: flag("Every event as it is on disk, including bookkeeping"),
      json: flag("One JSON array of entries"),
    },
    aliases: { n: "lines" },
    positional: one,
  },
  docs: described(
    "Print what an agent did, even after its end",
    "Only reads the disk: it works while the daemon is down, and for agents that were terminated.",
  ),
});

const follow = buildCommand<FollowFlags, [agent: string], Context>({
  loader: async () => (await import("./history.ts")).followCommand,
  parameters: {
    flags: {
      home,
      lines: countFlag("10", "How many past events to show first"),
      json: flag("One JSON object per line: the entries of its log"),
    },
    aliases: { n: "lines" },
    positional: one,
  },
  docs: described(
    "Watch an agent: its text, the tools it uses, its prompts, how its turns end",
    "Continues through crashes and restarts of the daemon, until Ctrl-C or the agent's end.",
  ),
});

const terminate = buildCommand<TerminateFlags, [agent: string], Context>({
  loader: async () => (await import("./change.ts")).terminateCommand,
  parameters: {
    flags: { home, reason: textFlag("text", "The reason; it is sent to the parent"), json: row },
    positional: one,
  },
  docs: { brief: "Terminate an agent and the agents below it" },
});

const retry = buildCommand<RetryFlags, [agent: string], Context>({
  loader: async () => (await import("./change.ts")).retryCommand,
  parameters: {
    flags: {
      home,
      without: flag("Leave out what the turn that failed was given"),
      fresh: flag("In a new conversation, whose first message has what is on record of the old one"),
      json: row,
    },
    positional: one,
  },
  docs: described(
    "Continue an agent that crashed for good, is asleep or waits, and repeat a turn that failed",
    "With --without its messages are dropped, and a bare model is not asked with that turn again; the rest goes on.",
  ),
});

const interrupt = buildCommand<DataFlags, [agent: string], Context>({
  loader: async () => (await import("./change.ts")).interruptCommand,
  parameters: { flags: { home, json: row }, positional: one },
  docs: { brief: "Ask an agent to stop its turn; it stays ready for the next message" },
});

const suspend = buildCommand<DataFlags, [agent: string], Context>({
  loader: async () => (await import("./change.ts")).suspendCommand,
  parameters: { flags: { home, json: row }, positional: one },
  docs: { brief: "End the process of an agent that is not in a turn; the next message resumes it" },
});

const set = buildCommand<SetFlags, [agent: string], Context>({
  loader: async () => (await import("./change.ts")).setCommand,
  parameters: { flags: { home, ...settings, json: row }, positional: one },
  docs: { brief: "Change an agent's recovery, hang detection and prompt defaults" },
});

const fetch = buildCommand<FetchFlags, [agent: string], Context>({
  loader: async () => (await import("./fetch.ts")).fetchCommand,
  parameters: {
    flags: {
      home,
      print: flag("Print the git command instead of running it"),
      json: flag("One JSON object {id, name, repository, branch, command}"),
    },
    positional: one,
  },
  docs: described(
    "Bring the commits of a sandboxed agent from its clone into your repository",
    "They become the remote-tracking branch holdfast/NAME-ID; your own branches and files stay as they are.",
    "git reads the clone inside a sandbox, and checks every object: the agent may have put anything there.",
  ),
});

const agents = buildRouteMap({
  routes: {
    ...{ new: create, send, ask, tree, inspect, inbox, log, follow },
    ...{ terminate, retry, interrupt, suspend, set, fetch },
  },
  docs: { brief: "Agents: their tree, messages and turns (docs/AGENTS.md)" },
});

export const agentRoutes = { agent: agents };
