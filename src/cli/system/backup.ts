// `holdfast backup FILE`: writes a backup of the home, while everything in it goes on.
// BC1. It says that it succeeded only when the file is durable, and was read back and found whole.
// BC2. Ctrl-C ends it, and leaves nothing. If the daemon went away meanwhile, nothing of the attempt counts, and it
//      begins again.
import { baseName, parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { BackupChain } from "../../home/backup/chain.ts";
import { orRefused, Stopped } from "../../home/backup/stopped.ts";
import { OTHER_NAME, type Step, type Written, writeBackup } from "../../home/backup/write.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { count, printJson, say, sizeText } from "../print.ts";
import { type HomeHold, holdOf } from "./backup-hold.ts";
import { Progress } from "./backup-progress.ts";
import { knownPassphrase, newPassphrase } from "./passphrase.ts";

/** Of all commands that read a backup. */
export type BackupReadFlags = DataFlags & { readonly base?: readonly string[]; readonly passphraseFile?: string };
export type BackupFlags = BackupReadFlags & {
  readonly since?: string;
  readonly encrypt?: boolean;
  readonly force?: boolean;
};

/** BC2 */
const MAX_TRIES = 5;
const AGAIN: readonly string[] = ["daemon.gone", "daemon.silent", "backup.expired", "not-live"];

async function backup(world: DaemonCommandWorld, flags: BackupFlags, file: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const path = world.console.absolute(file);
  const refusal = whyNotAllowed(world, home.value, "backup") ?? whyNotHere(world, home.value, path, flags);
  if (refusal !== undefined) return { ok: false, error: refusal };
  const base = await baseOf(world, flags);
  if (!base.ok) return base;
  const passphrase = await passphraseOf(world, flags);
  if (!passphrase.ok) return passphrase;
  const wish = { home: home.value, path, passphrase: passphrase.value, base: base.value, force: flags.force === true };
  const done = await world.console.staying(writeHeld(world, wish));
  base.value?.close();
  if (!done.ok) return done;
  await report(world, flags, wish, done.value);
  return ok(EXIT.ok);
}

type Wish = Parameters<typeof writeBackup>[1];

function whyNotHere({ disk }: DaemonCommandWorld, home: string, path: string, { force }: BackupFlags) {
  const found = disk.stat(path);
  if (path.startsWith(`${home}/`))
    return refused("backup.inside", `${path} is in the home itself.`, "Choose a place outside, best on another disk.")
      .error;
  if (disk.stat(parentOf(path))?.kind !== "directory")
    return refused("no-directory", `There is no directory ${parentOf(path)}.`, "Make it first.").error;
  if (found?.kind === "file" && force === true) return undefined;
  return found && refused("backup.exists", `${path} exists.`, OTHER_NAME).error;
}

async function baseOf(world: DaemonCommandWorld, flags: BackupFlags): Promise<Result<BackupChain | undefined>> {
  if (flags.since === undefined) return ok(undefined);
  return openChain(world, flags, flags.since);
}

/** The backup at this path, with all that it builds on. */
export async function openChain(
  world: DaemonCommandWorld,
  flags: BackupReadFlags,
  file: string,
): Promise<Result<BackupChain>> {
  const { console, disk } = world;
  const path = console.absolute(file);
  if (disk.stat(path)?.kind !== "file") return refused("unknown", `There is no file ${path}.`, "Name a backup.");
  const bases = (flags.base ?? []).map((one) => console.absolute(one));
  const passphrase = knownPassphrase(world, flags.passphraseFile);
  return console.staying(orRefused(path, () => BackupChain.open({ disk, path, bases, passphrase })));
}

async function passphraseOf(world: DaemonCommandWorld, flags: BackupFlags): Promise<Result<string | undefined>> {
  return flags.encrypt === true ? newPassphrase(world, flags.passphraseFile) : ok(undefined);
}

/** BC2 */
async function writeHeld(world: DaemonCommandWorld, wish: Wish): Promise<Result<Written>> {
  const stop = interruptible(world);
  for (let tries = 1; ; tries += 1) {
    const hold = await holdOf(world, wish.home);
    if (!hold.ok) return hold;
    const done = await writeOnce(world, wish, hold.value, stop);
    if (done.ok || tries === MAX_TRIES || !AGAIN.includes(done.error.code)) return done;
    await say(world.console, `${done.error.message} The backup begins again.`);
  }
}

async function writeOnce(world: DaemonCommandWorld, wish: Wish, hold: HomeHold, stop: () => void) {
  const progress = new Progress(world);
  const step: Step = async (doing, bytes) => {
    stop();
    if (doing === "write") await hold.beat();
    await progress.add(doing === "write" ? "written" : "verified", bytes);
  };
  try {
    return await writeBackup(world, wish, hold, step);
  } finally {
    await hold.close();
    await progress.end();
  }
}

/** Returns a function that ends the work if Ctrl-C or another end signal came. */
export function interruptible({ console }: Pick<DaemonCommandWorld, "console">): () => void {
  let signal: string | undefined;
  void console.told().then((name) => {
    signal = name;
  });
  return () => {
    if (signal !== undefined) throw new Stopped(INTERRUPTED);
  };
}

const INTERRUPTED = refused(
  "interrupted",
  "It was interrupted; nothing is left of it.",
  "Begin again when you like.",
).error;

async function report({ console }: DaemonCommandWorld, flags: BackupFlags, wish: Wish, done: Written): Promise<void> {
  const { path, home, base, passphrase } = wish;
  const { id, seq, lost, files, bytes, own, size } = done;
  const since = base?.newest.header.id ?? null;
  if (flags.json === true)
    return printJson(console, {
      file: path,
      home,
      id,
      seq,
      files,
      bytes,
      own,
      size,
      since,
      encrypted: passphrase !== undefined,
      lost,
    });
  const builds = base === undefined ? "" : `, of which ${sizeText(own)} are not in ${baseName(base.newest.path)}`;
  await say(console, `${path}: ${count(files, "file")}, ${sizeText(bytes)}${builds}; in ${sizeText(size)}, verified.`);
  await say(console, `it has everything that was acknowledged up to seq ${seq}.`);
  if (lost > 0) await say(console, "the log of this home is damaged, and so it is in the backup: holdfast log verify");
  if (passphrase === undefined)
    await say(console, "it is not encrypted, and has every secret of the home: keep it as safe.");
}

export const backupCommand = withDaemonWorld(backup);
