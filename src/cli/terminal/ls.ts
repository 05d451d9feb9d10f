// `holdfast ls`: the terminals, one per line; with --json in the shape that other programs rely on.

import { ok } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { fits } from "../../wire/rpc/page.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { say } from "../print.ts";
import { tableText } from "../table.ts";
import { listTerminals } from "./find.ts";
import { rowOf } from "./listed.ts";

const HEAD = ["NAME", "LANE", "STATE", "PROGRAM", "DIRECTORY", "AGE", "OUTPUT", "CLIENTS"];
/** Only if an agent CLI runs in one of them. */
const AGENT = "AGENT";
/** In a narrow window these columns are cut first, so that a terminal's state stays visible. */
const CUTS = [
  { column: HEAD.indexOf("PROGRAM"), keeps: "start" },
  { column: HEAD.indexOf("DIRECTORY"), keeps: "end" },
] as const;
const ALL_CUTS = CUTS.map(({ column, keeps }) => ({ column: column + 1, keeps }));
/** The first arguments are enough to recognize a program. */
const PROGRAM_CELLS = 40;

export type LsFlags = DataFlags & { readonly lane?: string; readonly all?: boolean };

async function ls(world: DaemonCommandWorld, flags: LsFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const { lane } = flags;
  if (flags.all === true) return lsAll(world, home.value, flags);
  const listing = await listTerminals(world, home.value, "wait", lane === undefined ? {} : { lane });
  if (!listing.ok) return listing;
  const { terminals } = listing.value;
  if (flags.json) {
    await world.console.out.write(`${visibleLine(JSON.stringify(terminals.map(rowOf)))}\n`);
    return ok(EXIT.ok);
  }
  if (listing.value.from === "disk" && terminals.length > 0) {
    await say(world.console, "the daemon is not running; this list is from disk. `holdfast up` starts it.");
  }
  const where = lane === undefined ? "" : ` in the lane ${lane}`;
  if (terminals.length === 0)
    await say(world.console, `there are no terminals${where} yet. \`holdfast new\` opens one.`);
  else await world.console.out.write(tableOf(world, terminals));
  for (const words of terminals.flatMap(remarks)) await say(world.console, words);
  return ok(EXIT.ok);
}

async function lsAll(world: DaemonCommandWorld, home: string, flags: LsFlags): Promise<Exit> {
  const { everywhere, printAllJson, behindHosts } = await import("../fleet/all.ts");
  const filter = flags.lane === undefined ? {} : { lane: flags.lane };
  const homes = await everywhere<BriefTerminal>(world, home, {
    kind: "terminals",
    own: async () => {
      const listing = await listTerminals(world, home, "wait", filter);
      return listing.ok ? ok(listing.value.terminals) : listing;
    },
    rows: ({ terminals }) => terminals.filter((one) => fits(one, filter)),
  });
  if (!homes.ok) return homes;
  const user = world.console.env("HOME");
  const cells = (terminal: BriefTerminal) => [...cellsOf(user, terminal, world.clock.now()), agentText(terminal)];
  const rows = behindHosts(homes.value, cells);
  if (flags.json) await printAllJson(world, homes.value, (terminals) => terminals.map(rowOf));
  else if (rows.length === 0) await say(world.console, "the fleet has no terminals.");
  else await world.console.out.write(tableText(world.console, [["HOST", ...HEAD, AGENT], ...rows], ALL_CUTS));
  return ok(EXIT.ok);
}

function remarks(terminal: BriefTerminal): string[] {
  const { name, state, trouble } = terminal;
  const { typed } = rowOf(terminal);
  const what = state.kind === "starting" ? `${name} could not be started yet` : `the output of ${name} is not recorded`;
  return [
    ...(typed === null ? [] : [`${name}: ${typed} is typed at the prompt; press Enter to run it.`]),
    ...(trouble === undefined ? [] : [`${what}: ${trouble}`]),
  ];
}

function tableOf({ console, clock }: DaemonCommandWorld, terminals: readonly BriefTerminal[]): string {
  const rows = terminals.map((terminal) => cellsOf(console.env("HOME"), terminal, clock.now()).map(visibleLine));
  if (terminals.every(({ agent }) => agent === undefined)) return tableText(console, [HEAD, ...rows], CUTS);
  const agents = terminals.map((terminal) => visibleLine(agentText(terminal)));
  return tableText(console, [[...HEAD, AGENT], ...rows.map((row, at) => [...row, agents[at] ?? ""])], CUTS);
}

/** "claude waiting 3f2a81c0": its name, what it does, and the start of its conversation's id. */
export function agentText({ agent }: Pick<BriefTerminal, "agent">): string {
  if (agent === undefined) return "-";
  const { name, state, session = "" } = agent;
  return [name, state === "unknown" ? "" : state, shortSession(session)].filter((word) => word !== "").join(" ");
}

/** Enough to recognize it. The ids of opencode begin alike (`ses_`). */
function shortSession(session: string): string {
  return session.startsWith("ses_") ? session.slice(0, 12) : session.slice(0, 8);
}

function cellsOf(user: string | undefined, terminal: BriefTerminal, now: number): string[] {
  const { name, lane, recipe, createdAt, clients, lastOutputAt } = terminal;
  const command = rowOf(terminal).program.join(" ");
  const program = command.length > PROGRAM_CELLS ? `${command.slice(0, PROGRAM_CELLS - 1)}…` : command;
  const cwd =
    user !== undefined && `${recipe.cwd}/`.startsWith(`${user}/`) ? `~${recipe.cwd.slice(user.length)}` : recipe.cwd;
  const age = (at: string) => durationText(now - Date.parse(at));
  const output = lastOutputAt === null ? "-" : `${age(lastOutputAt)} ago`;
  return [name, lane, stateText(terminal), program, cwd, age(createdAt), output, String(clients)];
}

export function stateText({ state }: Pick<BriefTerminal, "state">): string {
  if (state.kind === "running") return `running ${state.pid}`;
  return state.kind === "ended" ? `ended ${state.signal ?? state.code ?? ""}` : state.kind;
}

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
] as const;

function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ["s", 1];
  return `${Math.floor(seconds / size)}${unit}`;
}

export const lsCommand = withDaemonWorld(ls);
