// The commands about notifications: names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, flag, home } from "../flags.ts";

const TARGET = "{id, kind, name, service, device, okAt, failedAt, why, failures, waiting}";

const status = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./notify.ts")).statusCommand,
  parameters: { flags: { home, json: flag(`One JSON object {targets: [${TARGET}], quiet, isQuiet, mute}`) } },
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

const notify = buildRouteMap({
  routes: { status, ls, test },
  docs: { brief: "Being called when an agent waits for you: status, ls, test" },
});

export const notifyRoutes = { notify };
