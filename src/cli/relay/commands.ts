// `holdfast relay token|ls|revoke|status|log`: what people do with a running relay.
import { localTime } from "../../base/local-time.ts";
import { ok } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { ListedHome, LoggedEvent, RelayStatus } from "../../wire/relay/desk.ts";
import { MAX_EVENTS } from "../../wire/relay/desk.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { count, printJson, say } from "../print.ts";
import { tableText } from "../table.ts";
import { askRelay } from "./ask.ts";

const TOKEN_MS = 3_600_000;
const LINES = 50;
/** Unique among some hundreds, and short enough to type. */
const ID_LENGTH = 8;
/** Time enough to enrol all homes again. */
const AUTHORITY_SOON_MS = 365 * 86_400_000;
const AUTHORITY_ENDS =
  "the authority ends: before that, stop the relay, move authority.json away, start it, and enrol all homes again";

export type TokenFlags = DataFlags & { readonly name?: string; readonly expires?: number };
export type LogFlags = DataFlags & { readonly lines?: number };

async function token(world: DaemonCommandWorld, flags: TokenFlags): Promise<Exit> {
  const { name = null, expires: lifeMs = TOKEN_MS } = flags;
  const made = await askRelay(world, flags.home, { method: "token", name, lifeMs });
  if (!made.ok) return made;
  if (flags.json) await printJson(world.console, made.value);
  else {
    await world.console.out.write(`${made.value.token}\n`);
    await say(
      world.console,
      `one home can enrol with it, once, until ${made.value.until}: holdfast tunnel enroll URL TOKEN`,
    );
  }
  return ok(EXIT.ok);
}

async function ls(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const found = await askRelay(world, flags.home, { method: "ls" });
  if (!found.ok) return found;
  if (flags.json) await printJson(world.console, found.value);
  else if (found.value.length === 0)
    await say(world.console, "no home is enrolled. `holdfast relay token` lets one in.");
  else await world.console.out.write(tableOf(world, found.value));
  return ok(EXIT.ok);
}

const HEAD = ["ID", "NAME", "STATE", "TABS", "LAST SEEN", "ADDRESS"];

function tableOf({ console }: DaemonCommandWorld, homes: readonly ListedHome[]): string {
  const rows = homes.map((home) =>
    [
      ...[home.id.slice(0, ID_LENGTH), home.name, stateOf(home), String(home.tabs)],
      ...[localTime(console, home.seenAt), home.url],
    ].map(visibleLine),
  );
  return tableText(console, [HEAD, ...rows], [{ column: HEAD.indexOf("NAME"), keeps: "start" }]);
}

function stateOf({ revokedAt, connected }: ListedHome): string {
  if (revokedAt !== null) return "revoked";
  return connected ? "connected" : "away";
}

async function revoke(world: DaemonCommandWorld, flags: DataFlags, home: string): Promise<Exit> {
  const done = await askRelay(world, flags.home, { method: "revoke", home });
  if (!done.ok) return done;
  if (flags.json) await printJson(world.console, done.value);
  else await say(world.console, `revoked: ${visibleLine(done.value.name)} (${done.value.label})`);
  return ok(EXIT.ok);
}

async function status(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const found = await askRelay(world, flags.home, { method: "status" });
  if (!found.ok) return found;
  if (flags.json) await printJson(world.console, found.value);
  else await world.console.out.write(statusText(world, found.value));
  return ok(EXIT.ok);
}

function statusText({ console, clock }: DaemonCommandWorld, now: RelayStatus): string {
  const { homes, tunnel, browsers, authority } = now;
  const isLate = Date.parse(authority.until) - clock.now() < AUTHORITY_SOON_MS;
  const rows = [
    ["relay", `process ${now.pid}, on ${now.home}`],
    ["homes", `${homes.connected} of ${homes.enrolled} connected, ${homes.revoked} revoked`],
    ["tabs", count(now.tabs, "tab")],
    ["for homes", `${tunnel.host}, port ${tunnel.port}, as ${now.hosts.join(", ")}`],
    [
      "for browsers",
      `${browsers.host}, port ${browsers.port}, ${browsers.tls ? "HTTPS" : "plain HTTP"}, *.${now.domain}`,
    ],
    ["authority", `${authority.hash}, until ${localTime(console, authority.until)}`],
    ["certificate", `for homes, until ${localTime(console, now.certificateUntil)}; it is renewed by itself`],
    ...(isLate ? [["warning", AUTHORITY_ENDS]] : []),
  ];
  return tableText(console, rows);
}

async function log(world: DaemonCommandWorld, flags: LogFlags): Promise<Exit> {
  const wanted = Math.min(Math.max(flags.lines ?? LINES, 1), MAX_EVENTS);
  const found = await askRelay(world, flags.home, { method: "log", count: wanted });
  if (!found.ok) return found;
  if (flags.json) await printJson(world.console, found.value);
  else await world.console.out.write(found.value.map((one) => lineOf(world, one)).join(""));
  return ok(EXIT.ok);
}

function lineOf({ console }: DaemonCommandWorld, { ts, event, data, by }: LoggedEvent): string {
  return visibleLine(`${localTime(console, ts)}  ${event}  ${JSON.stringify(data)}  by ${JSON.stringify(by)}`).concat(
    "\n",
  );
}

export const tokenCommand = withDaemonWorld(token);
export const lsCommand = withDaemonWorld(ls);
export const revokeCommand = withDaemonWorld(revoke);
export const statusCommand = withDaemonWorld(status);
export const logCommand = withDaemonWorld(log);
