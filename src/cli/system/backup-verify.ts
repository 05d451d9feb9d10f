// `holdfast backup verify FILE`: reads all of a backup, and of what it builds on, and compares every hash.
import { ok } from "../../base/result.ts";
import { orRefused } from "../../home/backup/stopped.ts";
import { verify } from "../../home/backup/verify.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import { count, printJson, say, sizeText } from "../print.ts";
import { type BackupReadFlags, interruptible, openChain } from "./backup.ts";
import { Progress } from "./backup-progress.ts";

async function verifyFile(world: DaemonCommandWorld, flags: BackupReadFlags, file: string): Promise<Exit> {
  const { console } = world;
  const chain = await openChain(world, flags, file);
  if (!chain.ok) return chain;
  const progress = new Progress(world);
  const stop = interruptible(world);
  const { header, path, index } = chain.value.newest;
  const work = async () =>
    ok(
      await verify(chain.value, async (bytes) => {
        stop();
        await progress.add("verified", bytes);
      }),
    );
  const done = await console.staying(orRefused(path, work));
  chain.value.close();
  await progress.end();
  if (!done.ok) return done;
  const { seq, version, home } = index.top;
  const facts = { file: path, id: header.id, at: header.at, since: header.base, encrypted: header.seal !== null };
  if (flags.json === true) await printJson(console, { ...facts, seq, version, home: home.path, ...done.value });
  else {
    const { files, bytes, size } = done.value;
    await say(console, `${path} is whole: ${count(files, "file")}, ${sizeText(bytes)}; in ${sizeText(size)}.`);
    await say(console, `it is of ${home.path}, written at ${header.at}, with everything up to seq ${seq}.`);
  }
  return ok(EXIT.ok);
}

export const backupVerifyCommand = withDaemonWorld(verifyFile);
