// `holdfast drill`: its flags.
import { buildCommand } from "@stricli/core";
import type { DrillFlags } from "../../wire/drill.ts";
import type { Context } from "../command-world.ts";
import { amountFlag, described, flag, wholeNumber } from "../flags.ts";

/** Each terminal takes four processes. */
const MAX_TERMINALS = 500;
const MAX_SECONDS = 86_400;

const drill = buildCommand<DrillFlags, [], Context>({
  loader: async () => (await import("./drill.ts")).drillCommand,
  parameters: {
    flags: {
      terminals: amountFlag(MAX_TERMINALS, "25", "How many terminals to run"),
      seconds: amountFlag(MAX_SECONDS, "20", "How long to kill at random"),
      seed: {
        kind: "parsed",
        parse: wholeNumber,
        optional: true,
        placeholder: "n",
        brief: "Repeat the plan of an earlier drill",
      },
      json: flag("One JSON object {seed, kills, lost, doubled, orphans, liveMs, violations, …}"),
      machine: flag(
        "Simulate machine crashes: kill everything at once, start in another boot, and compare every screen",
      ),
      keep: flag("Keep the drill's home for inspection"),
    },
  },
  docs: described(
    "Kill Holdfast at random in a separate home, and check that nothing is lost",
    "Opens terminals with live programs in a new home below /tmp, never in yours, types into them, reads their",
    "output, and keeps workflows of all three modes and a tree of agents running. Meanwhile it kills the watchdog,",
    "the daemon, both, the web host, holders and agents at random moments, even in the middle of recovery.",
    "Then it checks every promise: no program restarted, every confirmed line read once, no byte lost or doubled,",
    "nothing acknowledged forgotten, no orphan, never two daemons, every step of every workflow done exactly once",
    "with its output present at the end, every message to an agent handled once, no agent lost or doubled, every",
    "prompt answered once; and that three crashes in a row lead to safe mode.",
    "With --machine the machine crashes instead, three times: all processes of that home are killed at once and the",
    "next start is in another boot; also in the middle of a checkpoint and of a restoration. Then every screen is",
    "compared cell by cell with what it was, and so are directories, commands, policies and the report. Workflow",
    "steps that were running become uncertain, and run again only if the file or a person allows it. An agent that",
    "waited for an answer asks again, and reads what it was sent.",
    "Exit code 0 only if all of that holds. The home is kept if something went wrong.",
  ),
});

export const drillRoutes = { drill };
