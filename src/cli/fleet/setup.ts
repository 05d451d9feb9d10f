// `holdfast fleet init|join|leave`: a host becomes one of a fleet, or stops being one.
// SU1. Nothing of the user's is replaced: a key that is there stays, and of the configuration only lines of our own are
//      written, or removed (own-table.ts).
// SU2. The configuration is written last, when the database answers and the key is in its place.
// SU3. A host joins with the key of the others: with another one it could read nothing, and others nothing of it.
// SU4. With `--role`, this host uses that role from then on, and not the owner of the tables. The owner's password is
//      not kept.
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { awayMs } from "../../core/fleet/watch.ts";
import { isBegun, keepCanary, keyFits } from "../../fleet/canary.ts";
import type { Database } from "../../fleet/database.ts";
import { grantTo } from "../../fleet/roles.ts";
import { initDatabase, SCHEMA_VERSION } from "../../fleet/schema.ts";
import { FleetSeal } from "../../fleet/seal.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { readHostId } from "../../home/fleet-host.ts";
import { readConfig } from "../../home/start-watchdog.ts";
import { readWhole } from "../../log/file/file.ts";
import { configPath, configRefusal } from "../../wire/files/config.ts";
import type { Config } from "../../wire/files/config-schema.ts";
import { asUser } from "../../wire/files/postgres-url.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { printJson, say } from "../print.ts";
import { withoutTable, withTable, writePrivate } from "./own-table.ts";
import { connectedTo, hostNameOf, hostsOf } from "./reach.ts";

export type JoinFlags = DataFlags & { readonly host?: string };
export type InitFlags = JoinFlags & { readonly role?: string };

type Begun = { readonly config: Config["fleet"]; readonly path: string; readonly text: string };

async function init(world: DaemonCommandWorld, flags: InitFlags, given: string): Promise<Exit> {
  const begun = begin(world, flags, "fleet init");
  if (!begun.ok) return begun;
  const { config, path } = begun.value;
  const url = await granted(world, flags.role, given);
  if (!url.ok) return url;
  const found = { schema: SCHEMA_VERSION, role: flags.role ?? null, key: config.keyFile, config: path };
  if (config.url !== "") {
    if (flags.role === undefined) return THERE;
    if (flags.json === true) await printJson(world.console, { ...found, host: hostNameOf(config) });
    else
      await say(
        world.console,
        `${flags.role} may use the tables. This host is in a fleet already, and stays as it is.`,
      );
    return ok(EXIT.ok);
  }
  return withDatabase(world, url.value, async (database) => {
    const named = await nameFor(world, database, flags, begun.value);
    if (!named.ok) return named;
    const isNew = world.disk.stat(config.keyFile) === undefined;
    const key = await keyForNew(world, database, config.keyFile, isNew);
    if (!key.ok) return key;
    await enter(world, flags, begun.value, url.value);
    const made = { ...found, host: named.value };
    if (flags.json === true) await printJson(world.console, made);
    else await world.console.out.write(`${wordsOfInit(made, isNew)}\n`);
    return ok(EXIT.ok);
  });
}

/** SU4. Returns the URL that this host uses. */
async function granted(world: DaemonCommandWorld, role: string | undefined, url: string): Promise<Result<string>> {
  if (role === undefined) return ok(url);
  const done = await withDatabase(world, url, (database) => grantTo(database, role));
  return done.ok ? ok(asUser(url, role)) : done;
}

/** SU1, SU3 */
async function keyForNew(
  world: DaemonCommandWorld,
  database: Database,
  path: string,
  isNew: boolean,
): Promise<Result<undefined>> {
  const there = await isBegun(database);
  if (!there.ok) return there;
  if (isNew && there.value) {
    const hint = `Copy the key of one of its hosts to ${path}, then: holdfast fleet join URL`;
    return refused("fleet-begun", "There is a fleet in this database already.", hint);
  }
  if (isNew) await writePrivate(world.disk, path, FleetSeal.newFile(world.random));
  const seal = FleetSeal.read(world, path);
  return seal.ok ? keepCanary(database, seal.value) : seal;
}

function wordsOfInit({ key, config, role }: { key: string; config: string; role: string | null }, isNew: boolean) {
  return [
    "the database has its tables.",
    ...(role === null ? [] : [`this host uses them as ${role}, which may read and write them, and nothing else.`]),
    `${isNew ? "the fleet's key is in" : "the fleet's key stays that in"} ${visibleLine(key)}. Copy it to every host of the fleet`,
    "  over a way that you trust, and keep a copy: without it nothing in the database can be read.",
    `${visibleLine(config)} has the address.`,
    "next here:            holdfast down; holdfast up",
    "next on other hosts:  copy the key, then: holdfast fleet join URL",
  ].join("\n");
}

async function join(world: DaemonCommandWorld, flags: JoinFlags, url: string): Promise<Exit> {
  const begun = begin(world, flags, "fleet join");
  if (!begun.ok) return begun;
  const { config, path } = begun.value;
  if (config.url !== "") return THERE;
  const seal = FleetSeal.read(world, config.keyFile);
  if (!seal.ok) return seal;
  return withDatabase(world, url, async (database) => {
    const there = await isBegun(database);
    if (!there.ok) return there;
    if (!there.value) return refused("no-fleet", "There is no fleet in this database yet.", "holdfast fleet init URL");
    const fits = await keyFits(database, seal.value); // SU3
    if (!fits.ok) return fits;
    const named = await nameFor(world, database, flags, begun.value);
    if (!named.ok) return named;
    await enter(world, flags, begun.value, url);
    if (flags.json === true) await printJson(world.console, { config: path, host: named.value });
    else await say(world.console, `${path} has the address. Next: holdfast down; holdfast up`);
    return ok(EXIT.ok);
  });
}

/** The name that this host will have. */
async function nameFor(
  { disk }: DaemonCommandWorld,
  database: Database,
  { host }: JoinFlags,
  { config, path }: Begun,
): Promise<Result<string>> {
  if (host !== undefined && config.host !== "") {
    const message = `The host has a name in ${path}: "${config.host}".`;
    return refused("fleet-config", message, "Change it there, without --host.");
  }
  const name = host ?? hostNameOf(config);
  const hosts = await hostsOf({ database });
  if (!hosts.ok) return hosts;
  const ours = readHostId({ disk, homes: config.homes });
  const other = hosts.value.find(
    (one) => one.name === name && one.id !== ours && one.agoMs < awayMs(config.leaseS * 1_000),
  );
  if (other === undefined) return ok(name);
  const message = `Another host of the fleet is called "${name}"; it was seen ${Math.round(other.agoMs / 1_000)} s ago.`;
  return refused("fleet-host", message, "Give this one a name of its own: --host NAME");
}

/** SU2 */
function enter({ disk }: DaemonCommandWorld, { host }: JoinFlags, { path, text }: Begun, url: string): Promise<void> {
  return writePrivate(disk, path, withTable(text, { url, ...(host && { host }) }));
}

async function leave(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const begun = begin(world, flags, "fleet leave");
  if (!begun.ok) return begun;
  const { path, text, config } = begun.value;
  if (config.url === "") return refused("no-fleet", "This host is in no fleet.", "holdfast fleet status");
  const rest = withoutTable(text);
  if (rest === undefined)
    return refused(
      "fleet-config",
      `The address in ${path} was not written by us.`,
      "Remove `url` from its [fleet] table.",
    );
  await writePrivate(world.disk, path, rest);
  if (flags.json === true) await printJson(world.console, { config: path });
  else await say(world.console, `${path} has no fleet any more. Next: holdfast down; holdfast up. The key stays.`);
  return ok(EXIT.ok);
}

const THERE = refused("fleet-there", "This host is in a fleet already.", "holdfast fleet leave leaves it.");

function begin(world: DaemonCommandWorld, flags: DataFlags, did: string): Result<Begun> {
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
  return ok({ config: fleet, path, text: new TextDecoder().decode(readWhole(world.disk, path)) });
}

/** The tables are there, and may be written to. */
async function withDatabase<T>(
  world: DaemonCommandWorld,
  url: string,
  work: (database: Database) => Promise<Result<T>>,
): Promise<Result<T>> {
  const database = await connectedTo(world, url);
  if (!database.ok) return database;
  try {
    const ready = await initDatabase(database.value);
    return ready.ok ? await work(database.value) : ready;
  } finally {
    database.value.drop();
  }
}

export const initCommand = withDaemonWorld(init);
export const joinCommand = withDaemonWorld(join);
export const leaveCommand = withDaemonWorld(leave);
