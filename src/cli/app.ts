// The command tree. It is loaded at every start, so it only names the commands: their routes, and then their code, are
// loaded when chosen.
import {
  type Application,
  buildApplication,
  buildRouteMap,
  type Command,
  help,
  type RouteMap,
  text_en,
  version,
} from "@stricli/core";
import about from "../../package.json" with { type: "json" };
import { VERSION } from "../wire/version.ts";
import type { Context } from "./command-world.ts";
import { type Group, topHelp } from "./top-help.ts";

const FORMATTING = {
  useAliasInUsageLine: false,
  onlyRequiredInUsageLine: false,
  caseStyle: "convert-camel-to-kebab",
} as const;

/** As git measures it, but no word is suggested that has little in common with what was typed. */
const NEAR = { threshold: 3, weights: { insertion: 1, deletion: 3, substitution: 2, transposition: 0 } };

const TEXT: typeof text_en = {
  ...text_en,
  briefs: { ...text_en.briefs, argumentEscapeSequence: "Everything after it is an argument" },
  noCommandRegisteredForInput: ({ input, corrections }) =>
    `Unknown command ${input}.${corrections.length === 0 ? "" : ` Did you mean ${corrections.join(" or ")}?`}`,
};

const CONFIG = {
  name: about.name,
  scanner: { caseStyle: "allow-kebab-for-camel", allowArgumentEscapeSequence: true, distanceOptions: NEAR },
  documentation: { ...FORMATTING, disableAnsiColor: true },
  localization: { text: TEXT },
} as const;

/** Building the routes takes longer than all else at a start, so only those of the first word are loaded. */
const MODULES = {
  terminal: async () => (await import("./terminal/routes.ts")).terminalRoutes,
  tmux: async () => (await import("./tmux/routes.ts")).adoptRoutes,
  workflow: async () => (await import("./workflow/routes.ts")).workflowRoutes,
  agent: async () => (await import("./agent/routes.ts")).agentRoutes,
  permission: async () => (await import("./agent/permission-routes.ts")).permissionRoutes,
  provider: async () => (await import("./agent/provider-routes.ts")).providerRoutes,
  top: async () => (await import("./top/routes.ts")).topRoutes,
  system: async () => (await import("./system/routes.ts")).systemRoutes,
  recovery: async () => (await import("./system/recovery-routes.ts")).recoveryRoutes,
  page: async () => (await import("./system/page-routes.ts")).pageRoutes,
  tunnel: async () => (await import("./tunnel/routes.ts")).tunnelRoutes,
  fleet: async () => (await import("./fleet/routes.ts")).fleetRoutes,
  notify: async () => (await import("./notify/routes.ts")).notifyRoutes,
  drill: async () => (await import("./system/drill-routes.ts")).drillRoutes,
  bench: async () => (await import("./bench/routes.ts")).benchRoutes,
  relay: async () => (await import("./relay/routes.ts")).relayRoutes,
  upgrade: async () => (await import("./upgrade/routes.ts")).upgradeRoutes,
  backup: async () => ({ backup: (await import("./system/backup-routes.ts")).backup }),
  log: async () => ({ log: (await import("./log/routes.ts")).logRoutes }),
};

type Module = keyof typeof MODULES;
type Loaded = Awaited<ReturnType<(typeof MODULES)[Module]>>;
type CommandName = Loaded extends infer Routes ? (Routes extends unknown ? keyof Routes : never) : never;
type Routes = Partial<Record<CommandName, Command<Context> | RouteMap<Context>>>;

/** Where its routes are, and the part of `holdfast --help` that lists it; undefined for commands that programs call. */
const COMMANDS: Readonly<Record<CommandName, readonly [Module, Group | undefined]>> = {
  new: ["terminal", "Terminals"],
  attach: ["terminal", "Terminals"],
  ls: ["terminal", "Terminals"],
  send: ["terminal", "Terminals"],
  history: ["terminal", "Terminals"],
  tail: ["terminal", "Terminals"],
  replay: ["terminal", "Terminals"],
  wait: ["terminal", "Terminals"],
  kill: ["terminal", "Terminals"],
  rename: ["terminal", "Terminals"],
  move: ["terminal", "Terminals"],
  rm: ["terminal", "Terminals"],
  adopt: ["tmux", "Terminals"],
  run: ["workflow", "Workflows"],
  workflows: ["workflow", "Workflows"],
  resume: ["workflow", "Workflows"],
  cancel: ["workflow", "Workflows"],
  dlq: ["workflow", "Workflows"],
  checkpoints: ["workflow", "Workflows"],
  migrate: ["workflow", "Workflows"],
  agent: ["agent", "Agents"],
  prompts: ["permission", "Agents"],
  answer: ["permission", "Agents"],
  rules: ["permission", "Agents"],
  top: ["top", "Agents"],
  providers: ["provider", "Agents"],
  recovery: ["recovery", "Recovery"],
  restore: ["terminal", "Recovery"],
  "safe-mode": ["recovery", "Recovery"],
  drill: ["drill", "Recovery"],
  up: ["system", "System"],
  down: ["system", "System"],
  open: ["page", "System"],
  devices: ["page", "System"],
  page: ["page", "System"],
  pair: ["tunnel", "System"],
  tunnel: ["tunnel", "System"],
  notify: ["notify", "Agents"],
  relay: ["relay", "System"],
  fleet: ["fleet", "System"],
  status: ["system", "System"],
  doctor: ["system", "System"],
  logs: ["system", "System"],
  log: ["log", "System"],
  config: ["system", "System"],
  reload: ["system", "System"],
  service: ["system", "System"],
  gc: ["system", "System"],
  backup: ["backup", "System"],
  usage: ["system", "System"],
  bench: ["bench", "System"],
  search: ["page", "System"],
  upgrade: ["upgrade", "System"],
  completions: ["system", "System"],
  __complete: ["system", undefined],
  __ready: ["system", undefined],
  __about: ["upgrade", undefined],
  __upgrade: ["upgrade", undefined],
};

const BY_NAME = new Map<string, (typeof COMMANDS)[CommandName]>(Object.entries(COMMANDS));

const FACTS = [
  "Data goes to stdout, messages to stderr; --json prints data as one JSON value, and errors as JSON on stderr.",
  "Exit codes: 0 ok, 1 failed, 2 usage, 3 waiting for a person, 4 not found, 5 already answered,",
  "75 try later, 77 only the operator may do this (docs/AGENTS.md), 124 the time is up.",
  "The home is HOLDFAST_HOME, or holdfast in the XDG state directory (~/.local/state).",
];

/** The command that a command line begins with; or all of them. stricli looks at each flag of each. */
async function routesFor(first: string): Promise<Routes> {
  const module = moduleFor(first);
  const some: Routes = module === undefined ? await allRoutes() : await MODULES[module]();
  const named = module === undefined ? undefined : Object.entries(some).find(([name]) => name === first);
  return named === undefined ? some : { [first]: named[1] };
}

async function allRoutes(): Promise<Routes> {
  const all = await Promise.all(Object.values(MODULES).map((load) => load()));
  return Object.assign({}, ...all);
}

/** The module that a command line needs; undefined if it needs all: for help, completions, and an unknown word. */
function moduleFor(first: string): Module | undefined {
  if (first === "--version" || first === "-v") return "notify"; // Any would do, and this one is small.
  const [module] = BY_NAME.get(first) ?? [];
  return first === "__complete" ? undefined : module;
}

/** The application with what a command line needs that begins with this word; without one, all of it. */
export async function appFor(first = ""): Promise<Application<Context>> {
  const routes = await routesFor(first);
  const plain = buildRouteMap<string, Context>({
    routes,
    docs: {
      hideRoute: { __complete: true, __ready: true, __about: true, __upgrade: true },
      brief: about.description,
      fullDescription: [`${about.description}.`, "", ...FACTS].join("\n"),
    },
  });
  const groups = Object.fromEntries([...BY_NAME].map(([name, [, group]]) => [name, group]));
  const root = { ...plain, formatHelp: () => topHelp(about, { routes, groups, facts: FACTS }) };
  return buildApplication<Context>(root, CONFIG, {
    help: help({ brief: "Show help", defaultForRouteMap: true, formatting: FORMATTING }),
    version: version({ brief: "Show the version", info: { currentVersion: VERSION } }),
  });
}
