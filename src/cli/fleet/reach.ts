// The database of the fleet, as the commands reach it: by the address in the configuration, without a daemon.
// RC1. A command that only looks asks once, and says why there is no answer. Nothing of the password is in any message.
import { ok, type Result, refused } from "../../base/result.ts";
import { HOMES, HOSTS, type HostRow, type WatchedRow } from "../../fleet/calls.ts";
import { type Answer, Database, whyOf } from "../../fleet/database.ts";
import { schemaOf } from "../../fleet/schema.ts";
import { postgresTarget } from "../../fleet/target.ts";
import { readConfig } from "../../home/start-watchdog.ts";
import { configRefusal } from "../../wire/files/config.ts";
import type { Config } from "../../wire/files/config-schema.ts";
import { realMachine } from "../../world/real/machine.ts";
import { realPostgres } from "../../world/real/postgres/client.ts";
import type { CommandWorld } from "../command-world.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

export type Fleet = { readonly database: Database; readonly config: Config["fleet"]; readonly host: string };

const NO_FLEET = refused(
  "no-fleet",
  "This host is in no fleet.",
  "holdfast fleet init postgres://… begins one; holdfast fleet join postgres://… joins one.",
);

export function configured(world: CommandWorld): Result<Config["fleet"]> {
  const config = readConfig(world);
  if (!config.ok) return { ok: false, error: configRefusal(config.error) };
  return ok(config.value.config.fleet);
}

export function hostNameOf({ host }: Config["fleet"]): string {
  return host || realMachine().hostName;
}

/** `url`: instead of the one in the configuration. */
export function databaseOf(world: DaemonCommandWorld, url: string): Result<Database> {
  const target = postgresTarget(url, { disk: world.disk, environment: world.self.environment() });
  if (!target.ok) return target;
  return ok(new Database({ postgres: realPostgres(), target: target.value, clock: world.clock }));
}

/** The same, if it lets us in: what is wrong with the URL, the password or the server is said as it is (RC1). */
export async function connectedTo(world: DaemonCommandWorld, url: string): Promise<Result<Database>> {
  const target = postgresTarget(url, { disk: world.disk, environment: world.self.environment() });
  if (!target.ok) return target;
  const tried = await realPostgres().connect(target.value);
  if (!tried.ok) return tried;
  tried.value.close();
  return databaseOf(world, url);
}

/** Runs `work` on the database, which is closed afterwards. */
export async function onFleet<T>(
  world: DaemonCommandWorld,
  work: (fleet: Fleet) => Promise<Result<T>>,
): Promise<Result<T>> {
  const config = configured(world);
  if (!config.ok) return config;
  if (config.value.url === "") return NO_FLEET;
  const database = databaseOf(world, config.value.url);
  if (!database.ok) return database;
  try {
    const ready = await schemaOf(database.value);
    if (!ready.ok) return ready;
    return await work({ database: database.value, config: config.value, host: hostNameOf(config.value) });
  } finally {
    database.value.drop();
  }
}

export function answered<T>(answer: Answer<T>): Result<T> {
  if (answer.kind === "done") return ok(answer.value);
  return refused("fleet-away", `The database of the fleet did not answer: ${whyOf(answer)}`, "holdfast fleet status");
}

export async function homesOf({ database }: Fleet): Promise<Result<readonly WatchedRow[]>> {
  return answered(await database.call(HOMES, undefined));
}

export async function hostsOf({ database }: Pick<Fleet, "database">): Promise<Result<readonly HostRow[]>> {
  return answered(await database.call(HOSTS, undefined));
}

/** The home that is meant: by its name, or by its id or the beginning of it. */
export function homeNamed(homes: readonly WatchedRow[], wanted: string): Result<WatchedRow> {
  const named = homes.filter(({ name }) => name === wanted);
  const found = named.length > 0 ? named : homes.filter(({ id }) => wanted.length >= 4 && id.startsWith(wanted));
  const [only] = found;
  if (only !== undefined && found.length === 1) return ok(only);
  const names = homes.map(({ name, id }) => (name === wanted ? `${name} (${id.slice(0, 12)})` : name)).join(", ");
  if (only === undefined)
    return refused("unknown", `There is no home "${wanted}" in the fleet.`, `There are: ${names || "none"}.`);
  return refused("ambiguous", `"${wanted}" means more than one home.`, `Give the id: ${names}.`);
}
