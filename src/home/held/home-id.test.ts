// The id of a home, and what a spec proves about who started its program.
import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { realDisk } from "../../world/real/disk.ts";
import { pipeSpec, readSpec, specPath, startedElsewhere, startedHere, writeSpec } from "./holder-files.ts";
import { HOME_ID, homeId } from "./home-id.ts";

const disk = realDisk();
const scratch = mkdtempSync("/tmp/hfid-");
afterAll(() => rmSync(scratch, { recursive: true }));

const held = (home: string) => join(home, "terminals/t");
const elsewhere = (home: string) => startedElsewhere({ disk, home }, held(home));
const started = (home: string) => startedHere({ disk, home }, held(home));

/** A home with one held program. */
async function homeAt(name: string): Promise<string> {
  const home = join(scratch, name);
  mkdirSync(home);
  const names = { id: "t", token: "t", socket: join(home, "run/t.sock"), tape: { segmentBytes: 1, maxBytes: 1 } };
  const spec = pipeSpec({ ...names, argv: ["x"], cwd: "/", env: { [HOME_ID]: "from outside", MINE: "y" } });
  await writeSpec({ disk, home }, held(home), spec);
  return home;
}

/** As an older version wrote it. */
function forgetId(home: string): void {
  const spec = readSpec({ disk, directory: held(home) });
  writeFileSync(specPath({ directory: held(home) }), JSON.stringify({ ...spec, env: {} }));
}

test("a program is given the id of its home, whatever its own variables are", async () => {
  const home = await homeAt("given");
  const id = homeId(disk, home);
  expect(id).toMatch(/^\d+:\d+$/);
  expect(readSpec({ disk, directory: held(home) })?.env).toEqual({ [HOME_ID]: id ?? "", MINE: "y" });
});

test("a home has started its programs, also when it was moved or is reached by a link; its copy has not", async () => {
  const home = await homeAt("first");
  const [copy, moved, link] = [join(scratch, "copy"), join(scratch, "moved"), join(scratch, "link")];
  cpSync(home, copy, { recursive: true });
  symlinkSync(home, link);
  expect([home, link, copy].map(started)).toEqual([true, true, false]);
  expect([home, link, copy].map(elsewhere)).toEqual([false, false, true]);
  renameSync(home, moved);
  expect([moved, copy].map(started)).toEqual([true, false]);
  expect([moved, copy].map(elsewhere)).toEqual([false, false]); // The copy may be the original on another disk.
});

test("a spec of an older version names the home by its socket; if nothing is there any more, nothing is proven", async () => {
  const home = await homeAt("older");
  forgetId(home);
  const [copy, moved] = [join(scratch, "older-copy"), join(scratch, "older-moved")];
  cpSync(home, copy, { recursive: true });
  expect([home, copy].map(started)).toEqual([true, false]);
  expect([home, copy].map(elsewhere)).toEqual([false, true]);
  renameSync(home, moved);
  expect([moved, copy].map(started)).toEqual([false, false]);
  expect([moved, copy].map(elsewhere)).toEqual([false, false]);
});
