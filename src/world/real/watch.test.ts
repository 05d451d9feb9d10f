import { afterAll, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realWatch } from "./watch.ts";

const scratch = mkdtempSync(join(tmpdir(), "holdfast-watch-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Watches a directory of its own, with a way to wait for the next reported name. */
function watched() {
  const path = mkdtempSync(join(scratch, "x"));
  const names: string[] = [];
  let told = Promise.withResolvers<void>();
  const stop = realWatch().directory(path, (name) => {
    names.push(name);
    told.resolve();
  });
  const until = async (name: string): Promise<void> => {
    while (!names.includes(name)) {
      await told.promise;
      told = Promise.withResolvers<void>();
    }
  };
  return { path, names, stop, until };
}

test("WT1 what appears or changes in a directory is reported by its name", async () => {
  const { path, names, stop, until } = watched();
  writeFileSync(join(path, "a"), "");
  await until("a");
  mkdirSync(join(path, "b"));
  await until("b");
  names.length = 0;
  appendFileSync(join(path, "a"), "more");
  await until("a");
  stop?.();
});

test("nothing is reported after the stop", async () => {
  const stopped = watched();
  const going = watched();
  stopped.stop?.();
  writeFileSync(join(stopped.path, "a"), "");
  writeFileSync(join(going.path, "a"), "");
  await going.until("a");
  expect(stopped.names).toEqual([]);
  going.stop?.();
});

test("a missing directory cannot be watched, and one that goes away does no harm", async () => {
  expect(realWatch().directory(join(scratch, "gone"), () => undefined)).toBeUndefined();
  const { path, stop } = watched();
  const above = Promise.withResolvers<void>();
  const stopAbove = realWatch().directory(scratch, () => above.resolve());
  rmSync(path, { recursive: true });
  await above.promise;
  stop?.();
  stopAbove?.();
});
