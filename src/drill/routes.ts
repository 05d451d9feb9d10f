// `holdfast drill`: what it is called and takes.
import { buildCommand } from "@stricli/core";
import type { Context } from "../cli/command-world.ts";
import { flag, wholeNumber } from "../cli/flags.ts";
import type { DrillFlags } from "./run.ts";

/** Each terminal is four processes. */
const MAX_TERMINALS = 500;
const MAX_SECONDS = 86_400;

function from1To(most: number) {
  return (input: string): number => {
    const number = wholeNumber(input);
    if (number < 1 || number > most) throw new Error(`it must be a whole number from 1 to ${most}`);
    return number;
  };
}

function number(most: number, usual: string, brief: string) {
  return { kind: "parsed", parse: from1To(most), default: usual, placeholder: "n", brief } as const;
}

const drill = buildCommand<DrillFlags, [], Context>({
  loader: async () => (await import("./run.ts")).drillCommand,
  parameters: {
    flags: {
      terminals: number(MAX_TERMINALS, "25", "How many terminals run throughout"),
      seconds: number(MAX_SECONDS, "20", "For how long is killed at random"),
      seed: {
        kind: "parsed",
        parse: wholeNumber,
        optional: true,
        placeholder: "n",
        brief: "Repeat the plan of an earlier drill",
      },
      json: flag("One JSON object {seed, kills, lost, doubled, orphans, liveMs, violations, …}"),
      machine: flag("The machine goes down: everything killed at once, in another boot, and every screen compared"),
      keep: flag("Keep the drill's home, to look at it"),
    },
  },
  docs: {
    brief: "Kill Holdfast at random in a home of its own, and check that nothing is lost",
    fullDescription: [
      "Opens terminals with live programs in a new home below /tmp, never in yours, types into them and reads along, keeps workflows of",
      "all three modes and a tree of agents running, and meanwhile kills watchdog, daemon, both, the web host, holders and agents at random moments, also in the",
      "middle of recovery. Then it checks every promise: no program restarted, every confirmed line read once, no byte lost or",
      "doubled, nothing acknowledged forgotten, no orphan, never two daemons, every step of every workflow done exactly once, and what",
      "it handed on there in the end, what every message to an agent is about done once, no agent lost or doubled, every prompt answered once;",
      "and that three crashes in a row lead to safe mode.",
      "With --machine the machine goes down instead, three times: everything of that home is killed at once and the next start is in",
      "another boot; also in the middle of a checkpoint and of a restoration. Then every screen is compared cell by cell with what it",
      "was, and with it directories, commands, policies and the report; and steps of workflows that were under way are uncertain, and",
      "done again only where the file or somebody agreed. An agent that waited for an answer asks again, and reads what it was sent.",
      "Exit code 0 only where all of that holds. A home in which something went wrong is kept.",
    ].join("\n"),
  },
});

export const drillRoutes = { drill };
