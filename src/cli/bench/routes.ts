// `holdfast bench`: its flags.
import { buildCommand } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { amountFlag, described, flag, home } from "../flags.ts";
import type { BenchFlags } from "./bench.ts";

const MAX_ROUNDS = 1_000;

const bench = buildCommand<BenchFlags, [], Context>({
  loader: async () => (await import("./bench.ts")).benchCommand,
  parameters: {
    flags: {
      home,
      rounds: amountFlag(MAX_ROUNDS, "15", "How often each command is timed"),
      json: flag("One JSON array of {name, ms, emptyMs, ratio}"),
    },
  },
  docs: described(
    "Time the commands on this machine",
    "Times --version, ls, attach and new -d in turn with an empty script under the same Bun, which is what no command",
    "can be faster than. Each figure is a median. It runs in a home of its own below /tmp, which is removed; yours is",
    "not touched.",
  ),
});

export const benchRoutes = { bench };
