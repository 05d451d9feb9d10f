// A new version before it is installed: it is copied beside the installed one, and the copy is checked.
// SG1. What is checked is what is installed: the digest is that of the bytes that were copied, and the copy is started.
// SG2. Nothing of it runs before its digest is right.
import { isFault } from "../../base/fault.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { nextName, removeLeftOvers } from "../../home/upgrade.ts";
import { readWhole } from "../../log/file/file.ts";
import { type About, aboutUs, parseAbout, unreadable } from "../../wire/about.ts";
import { LineReader } from "../../wire/lines.ts";
import type { OpenFile } from "../../world/disk.ts";
import { sha256InPieces } from "../../world/hash.ts";
import { realChildren } from "../../world/real/children.ts";
import { realMachine } from "../../world/real/machine.ts";
import { PLATFORM } from "../../world/real/runtime.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

/** A shell may start it, as any user. */
const MODE = 0o755;
const BLOCK = 1 << 20;
/** It takes 20 ms. */
const SAYS_MS = 20_000;
const DIGEST = /^[0-9a-f]{64}$/;

/** Copies FILE to `NAME.next`, and returns what it says about itself. */
export async function stage(
  world: DaemonCommandWorld,
  path: string,
  file: string,
  given: string | undefined,
): Promise<Result<About>> {
  const wanted = wantedDigest(world, file, given);
  if (!wanted.ok) return wanted;
  await removeLeftOvers(world.disk, path);
  const found = await copy(world, file, nextName(path));
  if (found !== wanted.value) return damaged(file, wanted.value, found); // SG2
  return looked(world, nextName(path), file);
}

function wantedDigest({ disk }: DaemonCommandWorld, file: string, given: string | undefined): Result<string> {
  const bytes = given === undefined ? readWhole(disk, `${file}.sha256`) : undefined;
  const [digest = ""] = (given ?? new TextDecoder().decode(bytes)).trim().toLowerCase().split(/\s/);
  if (DIGEST.test(digest)) return ok(digest);
  const hint = `Give --sha256 with the digest that was published with it, or put it into ${file}.sha256.`;
  if (given !== undefined) return refused("usage", "A SHA-256 digest has 64 hexadecimal digits.", hint);
  return refused("digest", `There is no digest to check ${file} against.`, hint);
}

/** Returns the digest of what was copied (SG1). */
async function copy({ disk }: DaemonCommandWorld, from: string, to: string): Promise<string> {
  const source = disk.open(from, "read");
  try {
    const target = disk.open(to, "exclusive");
    try {
      const digest = copyBytes(source, target);
      await target.sync();
      return digest;
    } finally {
      target.close();
    }
  } finally {
    source.close();
  }
}

function copyBytes(source: OpenFile, target: OpenFile): string {
  const [hash, block] = [sha256InPieces(), new Uint8Array(BLOCK)];
  for (let at = 0; ; ) {
    const bytes = block.subarray(0, source.read(block, at));
    if (bytes.length === 0) return hash.hex();
    hash.update(bytes);
    for (let done = 0; done < bytes.length; ) done += target.write(bytes.subarray(done), at + done);
    at += bytes.length;
  }
}

/** What is at `path`, or went by the name `file`, if it may take our place. */
export async function looked(world: DaemonCommandWorld, path: string, file: string): Promise<Result<About>> {
  realMachine().protect(path, MODE);
  const about = await saidBy(world, path);
  const here = aboutUs(PLATFORM);
  if (about === undefined) {
    const hint = `It must be a Holdfast for ${PLATFORM} that knows this command. Download it again.`;
    return refused("not-holdfast", `${file} does not start, or does not say that it is a Holdfast.`, hint);
  }
  if (about.platform !== PLATFORM)
    return refused("platform", `${file} is for ${about.platform}.`, `This machine needs the one for ${PLATFORM}.`);
  const formats = unreadable(about, here);
  if (formats.length === 0) return ok(about);
  const message = `Version ${about.version} cannot read what ${here.version} has written: ${formats.join(", ")}.`;
  return refused("formats", message, "Stay with this version, or restore a backup into another home for that one.");
}

async function saidBy({ clock, self }: DaemonCommandWorld, path: string): Promise<About | undefined> {
  const { promise, resolve } = Promise.withResolvers<About | undefined>();
  const reader = new LineReader();
  const output = (bytes: Uint8Array) => {
    const [line] = reader.push(bytes) ?? [""];
    if (line !== undefined) resolve(parseAbout(line));
  };
  try {
    const argv = [path, "__about"] as const;
    const child = realChildren().pipes(
      { argv, cwd: "/", env: self.environment() },
      { output, ended: () => resolve(undefined) },
    );
    child.closeInput();
    const cancel = clock.after(SAYS_MS, () => resolve(undefined));
    const about = await promise;
    cancel();
    child.signal("SIGKILL");
    return about;
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

function damaged(file: string, wanted: string, found: string): Result<never> {
  const message = `${file} is not what was published: its digest is ${found}, and not ${wanted}.`;
  return refused("digest", message, "Download it and its digest again.");
}
