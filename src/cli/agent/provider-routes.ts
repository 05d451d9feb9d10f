// `holdfast providers`: its names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, flag, home, text } from "../flags.ts";

const ROW = "{name, kind, from, program, installed, version, login, usable, why, next}";

const ls = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./providers.ts")).providersLsCommand,
  parameters: { flags: { home, json: flag(`One JSON list of ${ROW}`) } },
  docs: described(
    "List what agents can run on: built in, shipped recipes, and [provider.NAME] of the configuration",
    "Says for each whether its program is on your PATH, its version, and whether it can be used. Nothing is sent to",
    "anybody, and no secret is read: a login is known by a variable or a file that is there.",
  ),
});

const test = buildCommand<DataFlags, string[], Context>({
  loader: async () => (await import("./providers.ts")).providersTestCommand,
  parameters: {
    flags: { home, json: flag(`One JSON list of ${ROW}, with resumes for those that speak ACP`) },
    positional: {
      kind: "array",
      parameter: { parse: text, placeholder: "provider", brief: "A provider's name; all without one" },
    },
  },
  docs: described(
    "Check providers: program, version, login, and what to do if one cannot be used",
    "One that speaks ACP is started, asked what it can do, and ended again; no conversation is begun.",
    "Exit code 0: all of them can be used. 1: one cannot.",
  ),
});

export const providerRoutes = {
  providers: buildRouteMap({ routes: { ls, test }, docs: { brief: "What agents can run on: ls, test" } }),
};
