// When a proxy is no longer needed, by what is on disk.
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realDisk } from "../world/real/disk.ts";
import { realIdentities } from "../world/real/identities.ts";
import { isNeeded } from "./lifetime.ts";

const directory = mkdtempSync(join(tmpdir(), "hfproxy-"));
afterEach(() => {
  for (const name of ["claim.json", "exit.json"]) rmSync(join(directory, name), { force: true });
});

const processes = realIdentities();
const needed = (sinceMs = 0) => isNeeded(realDisk(), processes, directory, sinceMs);

function claim(given: object): void {
  const { pid } = processes;
  const holder = { pid, startTime: processes.startTime(pid), bootId: processes.bootId() };
  const facts = { v: 1, generation: 1, by: "holder", at: "2026-01-01T00:00:00.000Z", ...holder, ...given };
  writeFileSync(join(directory, "claim.json"), JSON.stringify(facts));
}

test("LT1 a proxy is needed while the holder of its process lives", () => {
  claim({});
  expect(needed(1e9)).toBe(true);
  claim({ startTime: 1 });
  expect(needed()).toBe(false);
  claim({ bootId: "another" });
  expect(needed()).toBe(false);
});

test("LT1 a process that has ended, or whose start was cancelled, needs none", () => {
  claim({});
  writeFileSync(join(directory, "exit.json"), "{}");
  expect(needed()).toBe(false);
  rmSync(join(directory, "exit.json"));
  claim({ by: "cancel" });
  expect(needed()).toBe(false);
});

test("LT2 one that is about to start is waited for, but not for ever", () => {
  expect(needed(60_000)).toBe(true);
  expect(needed(121_000)).toBe(false);
});
