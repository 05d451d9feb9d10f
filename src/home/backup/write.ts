// Writes a backup of a home to a file, and reads it back before it counts.
// WB1. The file has its name only when it is whole, verified and durable; whatever goes wrong before leaves none. A
//      killed process leaves a temporary file beside it, which the next backup to the same place removes.
// WB2. It is verified as any other: opened again, with the passphrase, and every hash compared (verify.ts).

import { isFault } from "../../base/fault.ts";
import { newId } from "../../base/ids.ts";
import { joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { writeAtomicBy } from "../../log/file/atomic-file.ts";
import { readJson } from "../../log/file/json-file.ts";
import { type BackupTop, headerText } from "../../wire/backup.ts";
import { VERSION } from "../../wire/version.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import type { Random } from "../../world/random.ts";
import { IDENTITY } from "../layout.ts";
import { asBase, BackupChain } from "./chain.ts";
import { Contents } from "./contents.ts";
import { newSeal, sealerOf } from "./seal.ts";
import { orRefused, orStopped } from "./stopped.ts";
import { type Hold, type Taken, Taking } from "./take.ts";
import { type Verified, verify } from "./verify.ts";
import { BackupWriter } from "./writer.ts";

export type BackupWorld = { readonly disk: Disk; readonly clock: Pick<Clock, "now">; readonly random: Random };

export type BackupWish = {
  readonly home: string;
  readonly path: string;
  /** Undefined: not encrypted. */
  readonly passphrase: string | undefined;
  /** What it builds on; undefined if it is to contain everything. */
  readonly base: BackupChain | undefined;
  /** Whether a file of this name is replaced. */
  readonly force: boolean;
};

/** Called after each piece of work with its bytes; throws to end the work. */
export type Step = (doing: "write" | "verify", bytes: number) => Promise<void>;

export type Written = Verified & Pick<Taken, "seq" | "lost"> & { readonly id: string };

const ID_BYTES = 16;

export function writeBackup(world: BackupWorld, wish: BackupWish, hold: Hold, step: Step): Promise<Result<Written>> {
  return orRefused(wish.path, async () => {
    const id = newId(world.random.bytes(ID_BYTES));
    const sealed = wish.passphrase === undefined ? undefined : await newSeal(wish.passphrase, world.random);
    const base = wish.base?.newest.header.id ?? null;
    const at = new Date(world.clock.now()).toISOString();
    const header = Buffer.from(headerText({ id, at, base, seal: sealed?.seal ?? null }));
    const written: { taken?: Taken; verified?: Verified } = {};
    const fill = async (file: OpenFile) => {
      const writer = new BackupWriter(file, header, sealed && sealerOf(sealed.key, header));
      written.taken = await fillWith(world, wish, writer, { hold, step });
    };
    const beforeCommit = async (synced: OpenFile) => {
      written.verified = await readBack(world, wish, synced.path, step);
    };
    try {
      await writeAtomicBy(world.disk, wish.path, fill, { tag: id, mustBeNew: !wish.force, beforeCommit }); // WB1
    } catch (error) {
      if (isFault(error, "EEXIST")) return refused("backup.exists", `${wish.path} exists.`, OTHER_NAME);
      throw error;
    }
    const { taken, verified } = written;
    if (taken === undefined || verified === undefined) throw new Error("a backup that has its name was verified");
    return ok({ id, seq: taken.seq, lost: taken.lost, ...verified });
  });
}

export const OTHER_NAME = "Choose another name, or --force to replace it.";

type Work = { readonly hold: Hold; readonly step: Step };

async function fillWith({ disk }: BackupWorld, { home, base }: BackupWish, writer: BackupWriter, { hold, step }: Work) {
  const before = base?.newest.index.entries.map((entry) => ({ ...entry, at: entry.at.map(asBase) })) ?? [];
  const contents = new Contents({ disk, home }, writer, before, (bytes) => step("write", bytes));
  const taken = orStopped(await new Taking({ disk, home }, contents, () => step("write", 0)).run(hold));
  const id = readJson(disk, joinPath(home, IDENTITY))?.["id"];
  const top: Omit<BackupTop, "length" | "blocks"> = {
    seq: taken.seq,
    version: VERSION,
    home: { id: typeof id === "string" ? id : null, path: home },
    bases: base?.asBases ?? [],
  };
  await writer.finish(top, taken.entries);
  return taken;
}

/** WB2 */
async function readBack({ disk }: BackupWorld, wish: BackupWish, path: string, step: Step): Promise<Verified> {
  const passphrase = async () => ok(wish.passphrase ?? "");
  const bases = wish.base?.paths ?? [];
  const chain = orStopped(await BackupChain.open({ disk, path, bases, passphrase }));
  try {
    return await verify(chain, (bytes) => step("verify", bytes));
  } finally {
    chain.close();
  }
}
