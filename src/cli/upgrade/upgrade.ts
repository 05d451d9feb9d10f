// `holdfast upgrade`: another version takes the place of this one (home/upgrade.ts says how far it is at any moment).
import { parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { runningOn } from "../../home/running.ts";
import { readSafeMode } from "../../home/safe-mode.ts";
import {
  fileAt,
  install,
  keepPrevious,
  nextName,
  previousName,
  readUpgrade,
  removeLeftOvers,
  type UpgradeRecord,
  upgradeLock,
  writeUpgrade,
} from "../../home/upgrade.ts";
import { wantedOn } from "../../home/wanted.ts";
import { readWhole } from "../../log/file/file.ts";
import type { About } from "../../wire/about.ts";
import { VERSION } from "../../wire/version.ts";
import { identify, type ProcessIdentity } from "../../world/process.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags, HomeFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { printJson, say } from "../print.ts";
import { settle } from "./settle.ts";
import { looked, stage } from "./stage.ts";

export type UpgradeFlags = DataFlags & {
  readonly sha256?: string;
  readonly rollback?: boolean;
  readonly within?: number;
};

const LIMIT_MS = 120_000;
/** Whose files they are. */
const PACKAGE_FILES = "/var/lib/dpkg/info/holdfast.list";

async function upgrade(world: DaemonCommandWorld, flags: UpgradeFlags, file: string | undefined): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const path = whatToReplace(world, home.value, flags, file);
  if (!path.ok) return path;
  const lock = upgradeLock(world.disk, path.value);
  if (lock === undefined) return underWay("Another upgrade is under way.");
  let taken = false;
  try {
    const next = await staged(world, path.value, flags, file);
    taken = next.ok;
    if (!next.ok) return next;
    return await replace(world, { home: home.value, path: path.value, flags, next: next.value });
  } finally {
    if (!taken) await removeLeftOvers(world.disk, path.value); // Also if the disk is full.
    lock.close();
  }
}

function whatToReplace(
  world: DaemonCommandWorld,
  home: string,
  { rollback = false }: UpgradeFlags,
  file: string | undefined,
): Result<string> {
  if ((file === undefined) !== rollback)
    return refused("usage", "Give the file of the new version, or --rollback.", "See `holdfast upgrade --help`.");
  const refusal = whyNotAllowed(world, home, "upgrade");
  if (refusal !== undefined) return { ok: false, error: refusal };
  const path = world.self.binary();
  if (path === undefined) return refused("not-binary", "This Holdfast is not one file.", otherWay(world));
  const packaged = new TextDecoder().decode(readWhole(world.disk, PACKAGE_FILES)).split("\n").includes(path);
  if (packaged)
    return refused(
      "packaged",
      `${path} belongs to a Debian package.`,
      "Upgrade that: apt install ./holdfast_VERSION.deb",
    );
  const record = readUpgrade(world.disk, home);
  if (record?.path !== path) return ok(path); // None, or one that came with a home from elsewhere.
  return underWay(`The upgrade to version ${record.to.version} is not finished.`);
}

/** In a source checkout the package's own files are not below `node_modules`. */
function otherWay({ self }: DaemonCommandWorld): string {
  const root = self.files().at(-1) ?? "";
  if (root.includes("/node_modules/")) return "Upgrade it with npm: npm install -g holdfast@latest";
  return `Upgrade its sources: cd ${root} && git pull; then: holdfast down && holdfast up`;
}

function underWay(message: string): Result<never> {
  return refused(
    "running",
    message,
    "`holdfast up` finishes it, and `holdfast status` shows what runs; then try again.",
  );
}

/** `NAME.next` is the new version, and may take our place. */
async function staged(
  world: DaemonCommandWorld,
  path: string,
  { sha256, rollback }: UpgradeFlags,
  file: string | undefined,
): Promise<Result<About>> {
  const { disk, console } = world;
  if (rollback !== true) return stage(world, path, console.absolute(file ?? ""), sha256);
  const previous = previousName(path);
  if (disk.stat(previous) === undefined)
    return refused("unknown", "There is no version to return to.", `It would be ${previous}.`);
  await removeLeftOvers(disk, path);
  disk.link(previous, nextName(path));
  await disk.syncDirectory(parentOf(path));
  return looked(world, nextName(path), previous);
}

type Replacing = {
  readonly home: string;
  readonly path: string;
  readonly flags: UpgradeFlags;
  readonly next: About;
};

async function replace(world: DaemonCommandWorld, { home, path, flags, next }: Replacing): Promise<Exit> {
  const { disk, processes, console } = world;
  const by = identify(processes, processes.pid);
  const [from, to] = [fileAt(disk, path), fileAt(disk, nextName(path))];
  if (by === undefined || from === undefined || to === undefined)
    return refused("internal", `${path} is not there any more.`, "Install it anew.");
  const isThere = wantedOn(disk, home) !== undefined;
  const record: UpgradeRecord = {
    ...{ v: 1, path, by, limitMs: flags.within ?? LIMIT_MS, safeMode: readSafeMode(disk, home).active },
    ...{ from: { version: VERSION, file: from }, to: { version: next.version, file: to } },
    page: runningOn(world, home).web !== undefined,
  };
  if (isThere) await writeUpgrade(disk, home, record);
  await install(disk, path);
  if (console.err.tty) await say(console, `version ${next.version} is installed; it takes over …`);
  const done = isThere ? await settle(world, home, record) : ok(await keepPrevious(disk, path));
  if (!done.ok) return done;
  const state = wantedOn(disk, home) === "up" ? "live" : "installed";
  const facts = { version: next.version, from: VERSION, path, previous: previousName(path), state };
  if (flags.json) await printJson(console, facts);
  else await say(console, `${endOf(state, facts)} Back to ${VERSION}: holdfast upgrade --rollback`);
  return ok(EXIT.ok);
}

function endOf(state: "live" | "installed", { version, path }: { readonly version: string; readonly path: string }) {
  return state === "live" ? `version ${version} is live.` : `version ${version} is ${path}; nothing is running.`;
}

async function finish(world: DaemonCommandWorld, flags: HomeFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const refusal = whyNotAllowed(world, home.value, "upgrade");
  if (refusal !== undefined) return { ok: false, error: refusal };
  const record = readUpgrade(world.disk, home.value);
  if (record?.path !== world.self.binary()) return ok(EXIT.ok);
  const lock = record && upgradeLock(world.disk, record.path);
  if (record === undefined || lock === undefined) return ok(EXIT.ok);
  try {
    const by: ProcessIdentity | undefined = identify(world.processes, world.processes.pid);
    if (by !== undefined) await writeUpgrade(world.disk, home.value, { ...record, by });
    const done = await settle(world, home.value, record);
    return done.ok ? ok(EXIT.ok) : done;
  } finally {
    lock.close();
  }
}

export const upgradeCommand = withDaemonWorld(upgrade);
export const settleCommand = withDaemonWorld(finish);
