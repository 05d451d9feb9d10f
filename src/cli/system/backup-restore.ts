// `holdfast backup restore FILE DIR`: makes a home of a backup. Nothing is started, and nothing that is there is
// replaced (home/backup/restore.ts).
import { ok } from "../../base/result.ts";
import { restore } from "../../home/backup/restore.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import { count, printJson, say, sizeText } from "../print.ts";
import { type BackupReadFlags, interruptible, openChain } from "./backup.ts";
import { Progress } from "./backup-progress.ts";

async function restoreHere(
  world: DaemonCommandWorld,
  flags: BackupReadFlags,
  file: string,
  dir: string,
): Promise<Exit> {
  const { console } = world;
  const chain = await openChain(world, flags, file);
  if (!chain.ok) return chain;
  const progress = new Progress(world);
  const stop = interruptible(world);
  const step = async (bytes: number) => {
    stop();
    await progress.add("restored", bytes);
  };
  const done = await console.staying(restore(world, chain.value, console.absolute(dir), step));
  chain.value.close();
  await progress.end();
  if (!done.ok) return done;
  const { home, seq, files, bytes } = done.value;
  if (flags.json === true) await printJson(console, { home, seq, files, bytes });
  else {
    await say(console, `${home}: ${count(files, "file")}, ${sizeText(bytes)}; everything up to seq ${seq}.`);
    await say(console, `as a copy, in safe mode until you let it go on: holdfast up --home ${home}`);
    await say(console, `in place of the original, which is gone: holdfast up --replace-original --home ${home}`);
  }
  return ok(EXIT.ok);
}

export const backupRestoreCommand = withDaemonWorld(restoreHere);
