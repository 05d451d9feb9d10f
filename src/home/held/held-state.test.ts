// The state of a held program by its files, also while its holder writes them.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nothing } from "../../../tests/sim/survive.ts";
import { afterPowerCut, simWorld } from "../../../tests/sim/world.ts";
import { claim } from "../../holder/records.ts";
import { realDisk } from "../../world/real/disk.ts";
import { realProcesses } from "../../world/real/process.ts";
import { cancelStart, claimForHost, type HeldState, readHeld } from "./held-state.ts";

test("a claim made at any moment of a look is either not seen yet or its holder's: never a loss", () => {
  const directory = mkdtempSync(join(tmpdir(), "hfheld-"));
  const processes = realProcesses();
  const { pid } = processes;
  const claim = {
    v: 1,
    generation: 1,
    by: "holder",
    pid,
    startTime: processes.startTime(pid),
    bootId: processes.bootId(),
  };
  const text = `${JSON.stringify({ ...claim, at: new Date(0).toISOString() })}\n`;
  for (let moment = 0; moment < 12; moment += 1) {
    rmSync(join(directory, "claim.json"), { force: true });
    let calls = 0;
    const disk = new Proxy(realDisk(), {
      get: (real, name, receiver) => {
        const call = Reflect.get(real, name, receiver);
        if (typeof call !== "function") return call;
        return (...words: unknown[]) => {
          if (calls++ === moment) writeFileSync(join(directory, "claim.json"), text);
          return Reflect.apply(call, real, words);
        };
      },
    });
    const found = readHeld({ disk, processes, directory }, 1);
    if (found.kind !== "unclaimed") expect(found).toMatchObject({ kind: "claimed", holder: { pid } });
  }
  rmSync(directory, { recursive: true });
});

test("HS1 each combination of files is one state; an unreadable claim is a loss, and never permits a start", () => {
  const world = simWorld(1);
  const { disk, processes } = world;
  const here = processes.pid;
  const claim = { v: 1, generation: 2, by: "holder", pid: here, startTime: processes.startTime(here) ?? 0 };
  const of = { bootId: processes.bootId(), at: new Date(0).toISOString() };
  const exit = { v: 1, generation: 2, code: 3, signal: null, offset: 0, ...of };
  const found = (files: { readonly claim?: object | string; readonly exit?: object }) => {
    for (const [name, fact] of Object.entries(files))
      disk.plant(`/t/${name}.json`, Buffer.from(typeof fact === "string" ? fact : JSON.stringify(fact)));
    return readHeld({ disk, processes, directory: "/t" }, 2);
  };
  expect(found({})).toEqual({ kind: "unclaimed" });
  expect(found({ claim: { ...claim, ...of, generation: 1 } })).toEqual({ kind: "unclaimed" });
  expect(found({ claim: { ...claim, ...of } })).toMatchObject({ kind: "claimed", holder: { pid: here } });
  expect(found({ claim: { ...claim, ...of, by: "cancel" } })).toEqual({ kind: "cancelled" });
  expect(found({ claim: { ...claim, ...of, pid: 99_999 } })).toEqual({ kind: "lost", bootId: of.bootId });
  expect(found({ claim: "" })).toEqual({ kind: "lost", bootId: undefined });
  expect(found({ exit: { ...exit, generation: 1 } })).toEqual({ kind: "lost", bootId: undefined });
  expect(found({ exit })).toEqual({ kind: "ended", exit });
});

test("HS1 an exit that is written while the files are read is an end, not a loss", () => {
  const { disk, processes } = simWorld(1);
  const of = { v: 1, generation: 1, bootId: processes.bootId(), at: new Date(0).toISOString() };
  const exit = { ...of, code: 3, signal: null, offset: 0 };
  disk.plant("/t/claim.json", Buffer.from(JSON.stringify({ ...of, by: "holder", pid: 99_999, startTime: 1 })));
  const alive: typeof processes.alive = (who) => {
    disk.plant("/t/exit.json", Buffer.from(JSON.stringify(exit))); // Its holder's last act.
    return processes.alive(who);
  };
  const found = readHeld({ disk, processes: { ...processes, alive }, directory: "/t" }, 1);
  expect(found).toEqual({ kind: "ended", exit });
});

test("HS2 a start is cancelled once, even before its directory exists; after a claim it cannot be", async () => {
  const world = { ...simWorld(1), home: "/h" };
  const place = { ...world, directory: "/h/terminals/t" };
  expect(await cancelStart(world, place.directory, 1)).toBe(true);
  expect(readHeld(place, 1)).toEqual({ kind: "cancelled" });
  expect(await claim(place, 1)).toBe(false);
  expect(await cancelStart(world, place.directory, 1)).toBe(false);
});

test("HS4 of a home that was taken over, only an exit is final: whatever else was begun is lost on the other host", async () => {
  const world = { ...simWorld(1), home: "/h" };
  const { disk, processes } = world;
  const [pid, bootId] = [processes.pid, processes.bootId()];
  const claim = {
    v: 1,
    generation: 2,
    by: "holder",
    pid,
    startTime: processes.startTime(pid) ?? 0,
    bootId,
    at: "then",
  };
  const exit = { v: 1, generation: 2, code: 3, signal: null, offset: 0, bootId, at: "then" };
  const after = async (name: string, files: { readonly claim?: object; readonly exit?: object }) => {
    const directory = `/h/terminals/${name}`;
    for (const [file, fact] of Object.entries(files))
      disk.plant(`${directory}/${file}.json`, Buffer.from(JSON.stringify(fact)));
    await claimForHost(world, { directory, generation: 2 }, "atlas");
    const next = { ...afterPowerCut(world, nothing), home: "/h" };
    return readHeld({ ...next, directory }, 2);
  };
  const lost: HeldState = { kind: "lost", bootId: "another host", host: "atlas" };
  expect(await after("none", {})).toEqual(lost);
  expect(await after("claimed", { claim })).toEqual(lost); // Even if such a process is alive here.
  expect(await after("cancelled", { claim: { ...claim, by: "cancel" } })).toEqual(lost); // It may have been undone.
  expect(await after("earlier", { claim: { ...claim, generation: 1 }, exit: { ...exit, generation: 1 } })).toEqual(
    lost,
  );
  expect(disk.stat("/h/terminals/earlier/claim-1.json")).toBeDefined();
  expect(await after("ended", { claim, exit })).toMatchObject({ kind: "ended", exit: { code: 3 } });
  await claimForHost(world, { directory: "/h/terminals/claimed", generation: 2 }, "boreas");
  expect(await after("claimed", {})).toEqual(lost); // A second takeover changes nothing.
});
