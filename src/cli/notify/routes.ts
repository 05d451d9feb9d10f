// The commands about notifications: names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import { agent } from "../agent/routes.ts";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, flag, home, textFlag, timeFlag } from "../flags.ts";
import type { MuteFlags, UnmuteFlags } from "./mute.ts";

const TARGET = "{id, kind, name, service, device, okAt, failedAt, why, failures, waiting}";

const MUTE = "{of, key, name, until}";

const status = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./notify.ts")).statusCommand,
  parameters: {
    flags: { home, json: flag(`One JSON object {targets: [${TARGET}], quiet, isQuiet, mute, mutes: [${MUTE}]}`) },
  },
  docs: described(
    "Show who is called when a prompt waits for an answer, and what went wrong",
    "Exits with 1 if the last call of anyone failed. Browsers are called by Web Push once the page has asked for it;",
    "[notify] in the configuration adds a command or a URL, and quiet hours (docs/NOTIFICATIONS.md).",
  ),
});

const ls = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./notify.ts")).lsCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${TARGET}`) } },
  docs: { brief: "List everyone who is called, with their last calls" },
});

const test = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./notify.ts")).testCommand,
  parameters: { flags: { home, json: flag("One JSON array of {id, name, ok, why}") } },
  docs: { brief: "Call everyone now, also in quiet hours, and show who could be reached" },
});

const muting = {
  home,
  lane: textFlag("lane", "All agents of this lane, instead of one by its name"),
  all: flag("All agents"),
  json: flag(`One JSON array of ${MUTE}: all that is muted then`),
};
const whom = { kind: "tuple", parameters: [{ ...agent, optional: true }] } as const;

const mute = buildCommand<MuteFlags, [agent?: string], Context>({
  loader: async () => (await import("./mute.ts")).muteCommand,
  parameters: {
    flags: { ...muting, for: timeFlag("For this long: 30m, 2h [default = until `notify unmute`]") },
    positional: whom,
  },
  docs: described(
    "Do not call anyone about an agent and all that it starts, a lane, or everything",
    "It is on disk when this returns. Prompts wait as before, and are shown on the page and by `holdfast prompts`;",
    "those that are still open when it is over are called about then. That a prompt was answered is always sent.",
  ),
});

const unmute = buildCommand<UnmuteFlags, [agent?: string], Context>({
  loader: async () => (await import("./mute.ts")).unmuteCommand,
  parameters: { flags: muting, positional: whom },
  docs: { brief: "Take back `notify mute` of an agent, a lane, or everything, and call about what is open" },
});

const notify = buildRouteMap({
  routes: { status, ls, test, mute, unmute },
  docs: { brief: "Being called when an agent waits for you: status, ls, test, mute, unmute" },
});

export const notifyRoutes = { notify };
