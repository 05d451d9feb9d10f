// `holdfast agent terminate|retry|interrupt|suspend|set` and `agent inbox drop|edit`: a command to one agent.
// CH1. Repeating a command is safe: if a daemon accepted it and then died, the next daemon's "already done" is success.
import { ok, type Result, refused } from "../../base/result.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { printJson, say } from "../print.ts";
import { onAgent } from "./find.ts";
import { givenText } from "./input.ts";
import { rowOf } from "./row.ts";
import { type SettingFlags, settingsOf } from "./settings.ts";

export type TerminateFlags = DataFlags & { readonly reason?: string };
export type RetryFlags = DataFlags & { readonly without?: boolean; readonly fresh?: boolean };
export type SetFlags = DataFlags & SettingFlags;

type AgentChange = {
  readonly key: string;
  ask(client: RpcClient, id: string): Promise<Result<ListedAgent>>;
  /** The refusal code that means the request was already carried out (CH1). */
  readonly done?: string;
  /** The message for people. */
  words(agent: ListedAgent): string;
};

async function change(
  world: DaemonCommandWorld,
  flags: DataFlags,
  { key, ask, done, words }: AgentChange,
): Promise<Exit> {
  const changed = await onAgent<ListedAgent>(world, flags, key, async (client, { id }, again) => {
    const asked = await ask(client, id);
    return !asked.ok && again && asked.error.code === done ? client.call("agent.show", { id }) : asked; // CH1
  });
  if (!changed.ok) return changed;
  if (flags.json) await printJson(world.console, rowOf(changed.value));
  else await say(world.console, words(changed.value));
  return ok(EXIT.ok);
}

const isNow = ({ name, state, note }: ListedAgent) => `${name} is ${state}${note === null ? "" : `: ${note}`}.`;

export const terminateCommand = withDaemonWorld((world: DaemonCommandWorld, flags: TerminateFlags, key: string) =>
  change(world, flags, {
    key,
    ask: (client, id) => client.call("agent.terminate", { id, reason: flags.reason ?? "The user ended it." }),
    words: ({ name }) =>
      `${name} is terminated, and so are the agents below it; \`holdfast agent log\` still shows what it did.`,
  }),
);

export const retryCommand = withDaemonWorld(async (world: DaemonCommandWorld, flags: RetryFlags, key: string) => {
  const { without = false, fresh = false } = flags;
  if (without && fresh) return BOTH;
  return change(world, flags, {
    key,
    ask: (client, id) => client.call("agent.retry", { id, ...(without && { without }), ...(fresh && { fresh }) }),
    done: fresh ? "running" : "nothing-to-retry",
    words: isNow,
  });
});

const BOTH = refused(
  "usage",
  "--fresh and --without cannot be combined.",
  "Start a new conversation first; if its turn fails again, leave out what it was given.",
);

export const dropCommand = withDaemonWorld(
  (world: DaemonCommandWorld, flags: DataFlags, key: string, message: string) =>
    change(world, flags, {
      key,
      ask: (client, id) =>
        onMessage(client, id, message, (found) => client.call("agent.drop", { id, messages: [found] })),
      done: "unknown",
      words: (agent) => `The message is dropped. ${isNow(agent)}`,
    }),
);

async function edit(
  world: DaemonCommandWorld,
  flags: DataFlags,
  key: string,
  ...text: [string, string]
): Promise<Exit> {
  const [message, words] = [text[0], await givenText(text[1])];
  return change(world, flags, {
    key,
    ask: (client, id) =>
      onMessage(client, id, message, (found) => client.call("agent.edit", { id, message: found, text: words })),
    words: (agent) => `The message is changed. ${isNow(agent)}`,
  });
}

export const editCommand = withDaemonWorld(edit);

/** Finds an unread message by its id, or its beginning. */
async function onMessage(
  client: RpcClient,
  id: string,
  key: string,
  act: (message: string) => Promise<Result<ListedAgent>>,
): Promise<Result<ListedAgent>> {
  const inbox = await allRows(client, "agent.inbox", { id });
  if (!inbox.ok) return inbox;
  const [found, other] = inbox.value.filter(({ message_id }) => message_id.startsWith(key));
  if (found === undefined)
    return refused("unknown", `There is no unread message ${key}.`, "`holdfast agent inbox` shows all.");
  if (other === undefined) return act(found.message_id);
  return refused("ambiguous", `Several unread messages begin with ${key}.`, "Give more of the id.");
}

export const interruptCommand = withDaemonWorld((world: DaemonCommandWorld, flags: DataFlags, key: string) =>
  change(world, flags, {
    key,
    ask: (client, id) => client.call("agent.interrupt", { id }),
    done: "idle",
    words: ({ name }) => `${name} was asked to stop its turn.`,
  }),
);

export const suspendCommand = withDaemonWorld((world: DaemonCommandWorld, flags: DataFlags, key: string) =>
  change(world, flags, {
    key,
    ask: (client, id) => client.call("agent.suspend", { id }),
    words: ({ name }) => `${name} is suspended; the next message wakes it.`,
  }),
);

async function set(world: DaemonCommandWorld, flags: SetFlags, key: string): Promise<Exit> {
  const settings = settingsOf(flags);
  if (!settings.ok) return settings;
  if (Object.keys(settings.value).length === 0)
    return refused("usage", "No setting was given.", "`holdfast agent set --help` lists the settings.");
  return change(world, flags, {
    key,
    ask: (client, id) => client.call("agent.set", { id, settings: settings.value }),
    words: ({ name }) => `${name} is updated; \`holdfast agent inspect ${name}\` shows the settings.`,
  });
}

export const setCommand = withDaemonWorld(set);
