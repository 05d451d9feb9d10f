// A new version is checked before anything of it runs: with scripts that say what a Holdfast would.
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aboutUs } from "../../wire/about.ts";
import { realClock } from "../../world/real/clock.ts";
import { realDisk } from "../../world/real/disk.ts";
import { PLATFORM } from "../../world/real/runtime.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { stage } from "./stage.ts";

const place = mkdtempSync(join(tmpdir(), "holdfast-stage-"));
afterEach(() => rmSync(place, { recursive: true, force: true }));

const world = {
  ...{ disk: realDisk(), clock: realClock() },
  self: { environment: () => ({ PATH: "/usr/bin:/bin" }) },
} as unknown as DaemonCommandWorld;
const installed = join(place, "holdfast");
const file = join(place, "new");
const US = aboutUs(PLATFORM);

/** `about`: what it says when it is started, which leaves a mark. */
async function staged(about: object, digest?: string) {
  await Bun.$`mkdir -p ${place}`;
  const script = `#!/bin/sh\ntouch ${place}/ran\necho '${JSON.stringify(about)}'\n`;
  writeFileSync(file, script);
  const real = new Bun.CryptoHasher("sha256").update(script).digest("hex");
  return stage(world, installed, file, digest ?? real);
}

const codeOf = (result: Awaited<ReturnType<typeof stage>>) => (result.ok ? "ok" : result.error.code);

test("SG1 what has the right digest and says that it is a Holdfast is copied as it is, beside the installed one", async () => {
  expect(await staged(US)).toEqual({ ok: true, value: US });
  expect(readFileSync(`${installed}.next`)).toEqual(readFileSync(file));
});

test("SG2 nothing of it runs if its digest is another, is missing, or is none", async () => {
  expect(codeOf(await staged(US, "0".repeat(64)))).toBe("digest");
  expect(codeOf(await staged(US, "none"))).toBe("usage");
  expect(codeOf(await stage(world, installed, file, undefined))).toBe("digest");
  expect(existsSync(join(place, "ran"))).toBe(false);
});

test("another program, one for another machine, and one that cannot read our files are refused", async () => {
  expect(codeOf(await staged({ name: "other" }))).toBe("not-holdfast");
  expect(codeOf(await staged({ ...US, platform: "plan9-pdp11" }))).toBe("platform");
  expect(codeOf(await staged({ ...US, formats: {} }))).toBe("formats");
});
