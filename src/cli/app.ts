// The command tree. It is loaded at every start, so it only names the commands: their code is loaded when chosen.
import { buildApplication, buildRouteMap, help, version } from "@stricli/core";
import about from "../../package.json" with { type: "json" };
import { permissionRoutes } from "./agent/permission-routes.ts";
import { agentRoutes } from "./agent/routes.ts";
import type { Context } from "./command-world.ts";
import { logRoutes } from "./log/routes.ts";
import { drillRoutes } from "./system/drill-routes.ts";
import { systemRoutes } from "./system/routes.ts";
import { terminalRoutes } from "./terminal/routes.ts";
import { adoptRoutes } from "./tmux/routes.ts";
import { workflowRoutes } from "./workflow/routes.ts";

const FORMATTING = {
  useAliasInUsageLine: false,
  onlyRequiredInUsageLine: false,
  caseStyle: "convert-camel-to-kebab",
} as const;

const routes = {
  ...terminalRoutes,
  ...adoptRoutes,
  ...workflowRoutes,
  ...agentRoutes,
  ...permissionRoutes,
  ...systemRoutes,
  ...drillRoutes,
  log: logRoutes,
};

const root = buildRouteMap<keyof typeof routes, Context>({
  routes,
  docs: {
    hideRoute: { __complete: true, __ready: true },
    brief: about.description,
    fullDescription: [
      `${about.description}.`,
      "",
      "Data goes to stdout, messages to stderr; --json prints data as one JSON value, and errors as JSON on stderr.",
      "Exit codes: 0 ok, 1 failed, 2 usage, 3 waiting for a person, 4 not found, 5 already answered,",
      "75 try later, 77 only the operator may do this (docs/AGENTS.md).",
      "The home is HOLDFAST_HOME, or holdfast in the XDG state directory (~/.local/state).",
    ].join("\n"),
  },
});

export const app = buildApplication<Context>(
  root,
  {
    name: about.name,
    scanner: { caseStyle: "allow-kebab-for-camel", allowArgumentEscapeSequence: true },
    documentation: { ...FORMATTING, disableAnsiColor: true },
  },
  {
    help: help({ brief: "Print help", defaultForRouteMap: true, formatting: FORMATTING }),
    version: version({ brief: "Print the version", info: { currentVersion: about.version } }),
  },
);
