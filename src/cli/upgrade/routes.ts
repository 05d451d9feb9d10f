// `holdfast upgrade`, and what other versions and the watchdog call: names, flags and arguments.
import { buildCommand } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { described, flag, type HomeFlags, home, proposeFiles, text, textFlag, timeFlag } from "../flags.ts";
import type { UpgradeFlags } from "./upgrade.ts";

const file = {
  parse: text,
  placeholder: "file",
  brief: "The new version, as it was downloaded",
  optional: true,
  proposeCompletions: proposeFiles,
} as const;

const upgrade = buildCommand<UpgradeFlags, [file?: string], Context>({
  loader: async () => (await import("./upgrade.ts")).upgradeCommand,
  parameters: {
    flags: {
      home,
      sha256: textFlag("digest", "The SHA-256 digest that it must have [default: what FILE.sha256 says]"),
      rollback: flag("Return to the version before this one"),
      within: timeFlag("How long the new version may take to become live [default = 2m]"),
      json: flag("One JSON object {version, from, path, previous, state}; state is `live` or `installed`"),
    },
    positional: { kind: "tuple", parameters: [file] },
  },
  docs: described(
    "Replace this version by another one; everything that runs keeps running",
    "For an installation that is one file. FILE must have its digest, be for this machine, and read what this version",
    "has written. It is installed under the name of this one, which stays beside it as NAME.previous; then watchdog,",
    "daemon and page of the home are replaced. Terminals, agents and steps of workflows are not touched.",
    "If the new version does not become live in time, or crashes again and again, this one is installed again and runs",
    "again, and the exit code is 1. That also holds if the machine loses power on the way: the next start decides.",
    "Other homes change over when they are started the next time.",
  ),
});

const about = buildCommand<object, [], Context>({
  loader: async () => (await import("./about.ts")).aboutCommand,
  parameters: { flags: {} },
  docs: { brief: "What this version is, for another one" },
});

const settle = buildCommand<HomeFlags, [], Context>({
  loader: async () => (await import("./upgrade.ts")).settleCommand,
  parameters: { flags: { home } },
  docs: { brief: "Finish an upgrade whose own process is gone; the watchdog calls it" },
});

export const upgradeRoutes = { upgrade, __about: about, __upgrade: settle };
