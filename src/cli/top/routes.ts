// `holdfast top`: its name, flags and arguments.
import { buildCommand } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, flag, home } from "../flags.ts";

const top = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./top.ts")).topCommand,
  parameters: {
    flags: { home, json: flag("What it shows, once: one JSON object {prompts, agents, terminals, runs}") },
  },
  docs: described(
    "Show all prompts, agents, terminals and runs on one live screen",
    "Keys: arrows select, p the next prompt; a allows and d denies the selected prompt, whose whole input is shown;",
    "Enter attaches to a terminal and reads anything else, s sends a message or a line, i interrupts; ? lists all keys,",
    "q leaves. An answer goes only to a prompt that was selected and shown, and it is allowed only once its end was in",
    "view. The screen changes when something happens, and costs nothing while nothing does.",
  ),
});

export const topRoutes = { top };
