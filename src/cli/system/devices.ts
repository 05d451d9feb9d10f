// `holdfast open` and `holdfast devices ls|revoke`: lets a browser use the page, and takes that back.
// DC1. A link is made by the daemon, which refuses agents. It is only printed: on a command line, other users could
//      read it. It is behind the #, so that no server, proxy or log sees it.
import { matchOne } from "../../base/ids.ts";
import { localTime } from "../../base/local-time.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import type { ListedDevice } from "../../wire/rpc/rpc.ts";
import { Pauses } from "../../world/wait.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { lookLive } from "../look.ts";
import { printJson, say } from "../print.ts";
import { tableText } from "../table.ts";

const HEAD = ["ID", "BROWSER", "RIGHTS", "SINCE", "LAST USED"];
/** Unique among a few dozen, and short enough to type. */
const ID_LENGTH = 12;
/** A web host that was just started answers sooner. */
const HOST_WAITS = { firstMs: 10, mostMs: 100, allMs: 5_000 };

export type PageLink = { readonly url: string; readonly until: string };

/** DC1 */
export async function pageLink(world: DaemonCommandWorld, client: RpcClient): Promise<Result<PageLink>> {
  const made = await client.call("device.link", {});
  if (!made.ok) return made;
  const address = await addressOf(world, client);
  return address.ok ? ok({ url: `${address.value}#link=${made.value.link}`, until: made.value.until }) : address;
}

async function addressOf({ clock }: DaemonCommandWorld, client: RpcClient): Promise<Result<string>> {
  const pauses = new Pauses(clock, HOST_WAITS);
  do {
    const status = await client.call("status", {});
    if (!status.ok) return status;
    const { pid, url } = status.value.web;
    if (pid !== null && url !== null) return ok(url);
  } while (await pauses.next());
  const hint = "Is [web] enabled? See `holdfast config show` and `holdfast logs`.";
  return refused("no-page", "The web host is not running.", hint);
}

async function open(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const link = await onDaemon(world, home.value, (client) => pageLink(world, client));
  if (!link.ok) return link;
  if (flags.json) await printJson(world.console, link.value);
  else {
    await world.console.out.write(`${link.value.url}\n`);
    await say(world.console, `open it in a browser of yours. It works once, until ${link.value.until}.`);
  }
  return ok(EXIT.ok);
}

async function ls(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const found = await lookLive(world, home.value, (client) => client.call("device.list", {}));
  if (!found.ok) return found;
  if (flags.json) await printJson(world.console, found.value);
  else if (found.value.length === 0) await say(world.console, "no browser is signed in. `holdfast open` lets one in.");
  else await world.console.out.write(tableOf(world, found.value));
  return ok(EXIT.ok);
}

function tableOf({ console }: DaemonCommandWorld, devices: readonly ListedDevice[]): string {
  const rows = devices.map(({ id, name, rights, madeAt, usedAt }) =>
    [id.slice(0, ID_LENGTH), name, rights, localTime(console, madeAt), localTime(console, usedAt)].map(visibleLine),
  );
  return tableText(console, [HEAD, ...rows], [{ column: HEAD.indexOf("BROWSER"), keeps: "start" }]);
}

export type RevokeFlags = DataFlags & { readonly all?: boolean };

async function revoke(world: DaemonCommandWorld, flags: RevokeFlags, ...ids: string[]): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  if (flags.all !== true && ids.length === 0)
    return refused("usage", "No browser was named.", "Give ids of `holdfast devices ls`, or --all.");
  const done = await onDaemon(world, home.value, (client) => revokeAll(client, flags.all === true ? undefined : ids));
  if (!done.ok) return done;
  if (flags.json) await printJson(world.console, done.value);
  else for (const { name } of done.value) await say(world.console, `signed out: ${visibleLine(name)}`);
  return ok(EXIT.ok);
}

/** All ids are found before the first is revoked. */
async function revokeAll(client: RpcClient, keys: readonly string[] | undefined): Promise<Result<ListedDevice[]>> {
  const known = await client.call("device.list", {});
  if (!known.ok) return known;
  const chosen: ListedDevice[] = [];
  for (const key of keys ?? known.value.map(({ id }) => id)) {
    const id = matchOne(
      known.value.map((one) => one.id),
      key,
    );
    if (!id.ok) return id;
    chosen.push(...known.value.filter((one) => one.id === id.value && !chosen.includes(one)));
  }
  for (const { id } of chosen) {
    const done = await client.call("device.revoke", { id });
    if (!done.ok && done.error.code !== "unknown") return done; // Another command may have revoked it meanwhile.
  }
  return ok(chosen);
}

export const openCommand = withDaemonWorld(open);
export const devicesLsCommand = withDaemonWorld(ls);
export const devicesRevokeCommand = withDaemonWorld(revoke);
