// The tools of agents as models are told of them (core/agent/tools.ts decides what each does).
import type { ToolSchema } from "./openai.ts";

type Property = { readonly type: string; readonly description: string };

export const TOOLS: readonly ToolSchema[] = [
  tool(
    "spawn_agent",
    "Start a child agent that works on its own. It begins when your present turn ends; its result comes to your inbox.",
    {
      name: text("Its name, unique among your children."),
      instructions: text("What it is to do."),
      provider: text("Another provider than yours, as the configuration names it. Optional."),
      model: text("Another model than yours. Optional."),
      cwd: text("Its directory, where it is not yours. Optional."),
    },
    ["name", "instructions"],
  ),
  tool(
    "send_message",
    "Send a message to your parent (`parent`), a child or a sibling, by name. It wakes an idle agent.",
    {
      to: text("The name, or `parent`."),
      text: text("What to say."),
      reply_to: text("The id of the message that this answers. Optional."),
    },
    ["to", "text"],
  ),
  tool("broadcast", "Send a message to all of your siblings.", { text: text("What to say.") }, ["text"]),
  tool("check_inbox", "Take the messages that have come for you during this turn.", {}, []),
  tool(
    "inspect_agent",
    "See how a child or sibling is doing: its state, its last words, its inbox.",
    { name: text("Its name.") },
    ["name"],
  ),
  tool("list_children", "List your children and their states.", {}, []),
  tool(
    "complete",
    "Say that your task is done, with its result. It goes to your parent, and you are ended after this turn.",
    {
      result: text("The result."),
    },
    ["result"],
  ),
  tool(
    "remind_me",
    "Be woken later with a text, also after a restart.",
    {
      after_seconds: { type: "number", description: "In how many seconds." },
      text: text("What to be reminded of."),
    },
    ["after_seconds", "text"],
  ),
];

function text(description: string): Property {
  return { type: "string", description };
}

function tool(
  name: string,
  description: string,
  properties: Readonly<Record<string, Property>>,
  required: readonly string[],
): ToolSchema {
  return { name, description, schema: { type: "object", properties, required, additionalProperties: false } };
}
