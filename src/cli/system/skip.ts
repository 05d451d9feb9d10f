// `holdfast recovery skip`: lists the poisoned bytes for which sessions were set aside, or has those of one session
// skipped. The daemon decides what can be skipped (daemon/skip.ts).

import { ok, type Result } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { allRows } from "../../wire/rpc/page.ts";
import type { ListedAside } from "../../wire/rpc/rpc.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { lookLive } from "../look.ts";
import { listText } from "../table.ts";

const RESTART = "holdfast down && holdfast up";

async function skip(world: DaemonCommandWorld, flags: DataFlags, key?: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const done =
    key === undefined
      ? await lookLive(world, home.value, list)
      : await onDaemon(world, home.value, (client) => one(client, key));
  if (!done.ok) return done;
  const text = flags.json ? visibleLine(JSON.stringify(done.value)) : visible(wordsOf(world, done.value));
  await world.console.out.write(`${text}\n`);
  return ok(EXIT.ok);
}

async function list(client: RpcClient): Promise<Result<readonly ListedAside[]>> {
  const asides = await allRows(client, "recovery.aside", {});
  return asides.ok ? ok(asides.value.filter(({ bytes }) => bytes !== null)) : asides;
}

async function one(client: RpcClient, key: string): Promise<Result<readonly ListedAside[]>> {
  const skipped = await client.call("recovery.skip", { id: key });
  return skipped.ok ? ok([skipped.value]) : skipped;
}

function wordsOf({ console }: DaemonCommandWorld, asides: readonly ListedAside[]): string {
  if (asides.length === 0) return "There is nothing to skip.";
  const rows = asides.map((aside) => [
    `${aside.what} ${aside.name}`,
    whereOf(aside),
    aside.reason,
    `→ ${nextOf(aside)}`,
  ]);
  return listText(console, rows, 2).trimEnd();
}

function whereOf({ bytes, skipped }: ListedAside): string {
  const where = bytes?.kind === "event" ? `event ${bytes.seq}` : `output ${bytes?.from}–${bytes?.to}`;
  return skipped === null ? where : `${where}, skipped from the next start on`;
}

function nextOf({ id, skipped }: ListedAside): string {
  return skipped === null ? `holdfast recovery skip ${id.slice(0, 12)}` : RESTART;
}

export const recoverySkipCommand = withDaemonWorld(skip);
