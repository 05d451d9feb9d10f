// The eight tools of agents: their names, purpose, and arguments as JSON Schema, for MCP and for bare LLMs.
// O1. Arguments are checked against the same schemas that agents see.
import { isRecord, type Json } from "../../base/json.ts";

export type ToolName =
  | "spawn_agent"
  | "send_message"
  | "broadcast"
  | "check_inbox"
  | "inspect_agent"
  | "list_children"
  | "complete"
  | "remind_me";

type Field = { readonly type: "string" | "number"; readonly description: string };

export type ToolShape = {
  readonly name: ToolName;
  readonly description: string;
  readonly inputSchema: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, Field>>;
    readonly required: readonly string[];
  };
};

const text = (description: string): Field => ({ type: "string", description });

function shape(
  name: ToolName,
  description: string,
  properties: Readonly<Record<string, Field>>,
  required: readonly string[],
): ToolShape {
  return { name, description, inputSchema: { type: "object", properties, required } };
}

const NAME = text("A name: letters, digits, dots, dashes and underscores; unique among your agents.");
const TO = text('The name of your parent (or "parent"), of one of your agents, or of a sibling.');

export const TOOLS: readonly ToolShape[] = [
  shape(
    "spawn_agent",
    "Start an agent of your own. It starts with its instructions once your turn has ended, and sends you messages.",
    {
      name: NAME,
      instructions: text("Its task, sent as its first message."),
      provider: text("Another provider, if yours may start agents on it; the default is yours."),
      model: text("A model of that provider."),
      system_prompt: text("Its system prompt; the default is yours."),
    },
    ["name", "instructions"],
  ),
  shape(
    "send_message",
    "Write to your parent, to one of your agents or to a sibling. The message wakes it.",
    { to: TO, text: text("The message."), reply_to: text("The id of the message this answers.") },
    ["to", "text"],
  ),
  shape("broadcast", "Write to all your siblings.", { text: text("The message.") }, ["text"]),
  shape("check_inbox", "Read the messages that came since your turn began.", {}, []),
  shape("inspect_agent", "How your parent, one of your agents or a sibling is doing.", { name: TO }, ["name"]),
  shape("list_children", "The agents that you have started, and how they are doing.", {}, []),
  shape(
    "complete",
    "Say that your work is done: your parent gets the result, and you end with this turn.",
    { result: text("The result of your work.") },
    ["result"],
  ),
  shape(
    "remind_me",
    "Be woken later with a text of your own. It survives restarts.",
    { in_seconds: { type: "number", description: "How long from now." }, text: text("What you will be told.") },
    ["in_seconds", "text"],
  ),
];

export type Arguments = Readonly<Record<string, string | number>>;

export function toolOf(name: string): ToolShape | undefined {
  return TOOLS.find((one) => one.name === name);
}

/** O1. Returns what is wrong with the arguments, as a message for the agent; otherwise the arguments. */
export function checkArguments({ inputSchema }: ToolShape, args: Json): Arguments | string {
  const given = args === null ? {} : args;
  if (!isRecord(given)) return "The arguments must be one object.";
  const missing = inputSchema.required.find((name) => given[name] === undefined || given[name] === null);
  if (missing !== undefined) return `The argument "${missing}" is missing.`;
  const found: Record<string, string | number> = {};
  for (const [name, { type }] of Object.entries(inputSchema.properties)) {
    const value = given[name] ?? null;
    if (value === null) continue;
    if ((typeof value !== "string" && typeof value !== "number") || typeof value !== type)
      return `The argument "${name}" must be of type ${type}.`;
    found[name] = value;
  }
  return found;
}
