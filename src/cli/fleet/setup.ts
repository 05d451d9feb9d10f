// `holdfast fleet init|join|leave`: a host becomes one of a fleet, or stops being one.
// SU1. Nothing of the user's is replaced: a key that is there stays, and of the configuration only a table of our own
//      is written, or removed.
// SU2. The configuration is written last, when the database answers and the key is in its place.
// SU3. A host joins with the key of the others: with another one it could read nothing, and others nothing of it.
import { parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { READ } from "../../fleet/calls.ts";
import type { Database } from "../../fleet/database.ts";
import { initDatabase, SCHEMA_VERSION } from "../../fleet/schema.ts";
import { FleetSeal } from "../../fleet/seal.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { readConfig } from "../../home/start-watchdog.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { makeDirectories, readWhole } from "../../log/file/file.ts";
import { configPath, configRefusal } from "../../wire/files/config.ts";
import type { Config } from "../../wire/files/config-schema.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { printJson, say } from "../print.ts";
import { answered, databaseOf, homesOf, hostNameOf } from "./reach.ts";

/** SU1. Everything between these lines is ours. */
const BEGIN = "# Written by `holdfast fleet`; `holdfast fleet leave` removes it up to the next such line.";
const END = "# End of what `holdfast fleet` has written.";
const OURS = /\n?# Written by `holdfast fleet`;[\s\S]*?# End of what `holdfast fleet` has written\.\n/;

type Begun = { readonly config: Config["fleet"]; readonly path: string; readonly text: string };

async function init(world: DaemonCommandWorld, flags: DataFlags, url: string): Promise<Exit> {
  const begun = begin(world, flags, "fleet init");
  if (!begun.ok) return begun;
  return withDatabase(world, url, async (database) => {
    const { config, path } = begun.value;
    const isNew = world.disk.stat(config.keyFile) === undefined;
    if (isNew) await writePrivate(world, config.keyFile, FleetSeal.newFile(world.random));
    const seal = FleetSeal.read(world, config.keyFile); // SU1: one that is there must be one.
    if (!seal.ok) return seal;
    await writeTable(world, begun.value, url);
    const made = { schema: SCHEMA_VERSION, key: config.keyFile, config: path, host: hostNameOf(config) };
    if (flags.json === true) await printJson(world.console, made);
    else await world.console.out.write(`${wordsOfInit(made, isNew)}\n`);
    database.drop();
    return ok(EXIT.ok);
  });
}

function wordsOfInit({ key, config }: { key: string; config: string }, isNew: boolean): string {
  return [
    "the database has its tables.",
    `${isNew ? "the fleet's key is in" : "the fleet's key stays that in"} ${visibleLine(key)}. Copy it to every host of the fleet`,
    "  over a way that you trust, and keep a copy: without it nothing in the database can be read.",
    `${visibleLine(config)} has the address.`,
    "next here:            holdfast down; holdfast up",
    "next on other hosts:  copy the key, then: holdfast fleet join URL",
  ].join("\n");
}

async function join(world: DaemonCommandWorld, flags: DataFlags, url: string): Promise<Exit> {
  const begun = begin(world, flags, "fleet join");
  if (!begun.ok) return begun;
  const { config, path } = begun.value;
  const seal = FleetSeal.read(world, config.keyFile);
  if (!seal.ok) return seal;
  return withDatabase(world, url, async (database) => {
    const fits = await keyFits(database, seal.value, { database, config, host: hostNameOf(config) });
    if (!fits.ok) return fits;
    await writeTable(world, begun.value, url);
    if (flags.json === true) await printJson(world.console, { config: path, host: hostNameOf(config) });
    else await say(world.console, `${path} has the address. Next: holdfast down; holdfast up`);
    return ok(EXIT.ok);
  });
}

/** SU3. By the last batch of any home; a fleet without any has nothing to compare with. */
async function keyFits(
  database: Database,
  seal: FleetSeal,
  fleet: Parameters<typeof homesOf>[0],
): Promise<Result<undefined>> {
  const homes = await homesOf(fleet);
  if (!homes.ok) return homes;
  for (const { id, lastSeq } of homes.value) {
    const rows = answered(await database.call(READ, { home: id, after: lastSeq - 1 }));
    if (!rows.ok) return rows;
    const last = rows.value.at(-1);
    if (last === undefined) continue;
    const opened = seal.openBatches(id, last);
    return opened.ok ? ok(undefined) : opened;
  }
  return ok(undefined);
}

async function leave(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const begun = begin(world, flags, "fleet leave", true);
  if (!begun.ok) return begun;
  const { path, text, config } = begun.value;
  if (config.url === "") return refused("no-fleet", "This host is in no fleet.", "holdfast fleet status");
  if (!OURS.test(text))
    return refused(
      "fleet-config",
      `The address in ${path} was not written by us.`,
      "Remove `url` from its [fleet] table.",
    );
  await writePrivate(world, path, text.replace(OURS, ""));
  if (flags.json === true) await printJson(world.console, { config: path });
  else await say(world.console, `${path} has no fleet any more. Next: holdfast down; holdfast up. The key stays.`);
  return ok(EXIT.ok);
}

/** `isMember`: it must be in a fleet; otherwise it must not. */
function begin(world: DaemonCommandWorld, flags: DataFlags, did: string, isMember = false): Result<Begun> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const refusal = whyNotAllowed(world, home.value, did);
  if (refusal !== undefined) return { ok: false, error: refusal };
  const config = readConfig(world);
  if (!config.ok) return { ok: false, error: configRefusal(config.error) };
  const { env, absolute } = world.console;
  const path = config.value.path ?? configPath({ env, absolute });
  if (path === undefined) return refused("no-config", "There is no place for a configuration.", "Set HOME.");
  const { fleet } = config.value.config;
  if (!isMember && fleet.url !== "")
    return refused("fleet-there", "This host is in a fleet already.", "holdfast fleet leave leaves it.");
  return ok({ config: fleet, path, text: new TextDecoder().decode(readWhole(world.disk, path)) });
}

async function withDatabase(world: DaemonCommandWorld, url: string, work: (database: Database) => Promise<Exit>) {
  const database = databaseOf(world, url);
  if (!database.ok) return database;
  try {
    const ready = await initDatabase(database.value);
    return ready.ok ? await work(database.value) : ready;
  } finally {
    database.value.drop();
  }
}

/** SU1, SU2. A `[fleet]` table that is there already gets the address as its first line. */
async function writeTable(world: DaemonCommandWorld, { path, text }: Begun, url: string): Promise<void> {
  const line = `url = ${JSON.stringify(url)}`;
  const table = /^[ \t]*\[fleet\][^\n]*\n/m.exec(text);
  const ours = `${BEGIN}\n${table === null ? "[fleet]\n" : ""}${line}\n${END}\n`;
  const at = table === null ? text.length : table.index + table[0].length;
  const before = text.slice(0, at);
  const gap = table === null && before !== "" && !before.endsWith("\n\n") ? "\n" : "";
  await writePrivate(world, path, `${before}${gap}${ours}${text.slice(at)}`);
}

async function writePrivate({ disk }: DaemonCommandWorld, path: string, text: string): Promise<void> {
  for (const parent of makeDirectories(disk, parentOf(path))) await disk.syncDirectory(parent);
  await writeAtomic(disk, path, Buffer.from(text));
}

export const initCommand = withDaemonWorld(init);
export const joinCommand = withDaemonWorld(join);
export const leaveCommand = withDaemonWorld(leave);
