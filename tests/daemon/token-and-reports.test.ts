// The daemon's small files: its token, its reports, and the records that tell the causes of a start apart.
import { expect, test } from "bun:test";
import type { ReportItem } from "../../src/core/recovery.ts";
import { readTaken, writeTaken } from "../../src/home/fleet-files.ts";
import {
  detectCause,
  forgetBoot,
  removeCleanEnd,
  wasDown,
  writeCleanEnd,
  writeLastBoot,
} from "../../src/home/last-life.ts";
import { ReportWriter } from "../../src/home/report-writer.ts";
import { readReport, shortened, writeReport } from "../../src/home/reports.ts";
import { homeToken, keepToken } from "../../src/home/token.ts";
import { readJson } from "../../src/log/file/json-file.ts";
import type { Report } from "../../src/wire/rpc/rpc.ts";
import { SimDisk } from "../sim/disk.ts";
import { SimRandom } from "../sim/random.ts";
import { nothing } from "../sim/survive.ts";
import { afterKill, afterPowerCut, simWorld } from "../sim/world.ts";

function report(n: number): Report {
  const at = new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
  return { at, cause: "daemon crash", items: [], log: null, tookMs: n };
}

test("a token is created once per home, and survives a power cut", async () => {
  const disk = new SimDisk();
  const token = await homeToken(disk, new SimRandom(1), "/h");
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(await homeToken(disk.powerCut(nothing), new SimRandom(2), "/h")).toBe(token);
});

test.each(["", "short", "g".repeat(64), "0".repeat(65)])("%j is not a token: another one is created", async (text) => {
  const disk = new SimDisk();
  disk.plant("/h/run/token", Buffer.from(text));
  expect(await homeToken(disk, new SimRandom(1), "/h")).toMatch(/^[0-9a-f]{64}$/);
});

test("a removed token is put back, and an existing one costs no write", async () => {
  const disk = new SimDisk();
  const token = await homeToken(disk, new SimRandom(1), "/h");
  disk.unlink("/h/run/token");
  await keepToken(disk, "/h", token);
  expect(new TextDecoder().decode(disk.peek("/h/run/token"))).toBe(`${token}\n`);
  disk.readOnly = true;
  await keepToken(disk, "/h", token);
});

test("reports are bounded: the newest 50 stay, and each is found by its name", async () => {
  const disk = new SimDisk();
  const names: string[] = [];
  for (let n = 0; n < 60; n += 1) names.push(await writeReport(disk, "/h", report(n)));
  expect(disk.list("/h/recovery/reports").sort()).toEqual(names.slice(10).map((name) => `${name}.json`));
  expect(readReport(disk, "/h", null)).toEqual(report(59));
  expect(readReport(disk, "/h", names[30] ?? "")).toEqual(report(30));
  expect(readReport(disk, "/h", names[0] ?? "")).toBeNull();
});

test("PG4 the report of 20,000 terminals can be read from its file, and has what needs a person", async () => {
  const disk = new SimDisk();
  const items = Array.from({ length: 20_000 }, (_, at): ReportItem => {
    const fate = at % 1000 === 999 ? "needs you" : "back as it was";
    return { what: "terminal", id: `${at}`, name: `t${at}`, fate, reason: "x".repeat(60), next: "holdfast ls" };
  });
  const name = await writeReport(disk, "/h", shortened({ ...report(1), items }));
  const read = readJson(disk, `/h/recovery/reports/${name}.json`) ?? {}; // As `holdfast recovery report` reads it.
  const kept = readReport(disk, "/h", name);
  expect(read).toEqual({ ...kept });
  expect([kept?.more, kept?.items.length]).toEqual([20_000 - (kept?.items.length ?? 0), expect.any(Number)]);
  expect(kept?.items.filter(({ fate }) => fate === "needs you")).toHaveLength(20);
  expect(shortened(report(1))).toEqual(report(1));
});

test("no report, a bad one, and a name that leads elsewhere all return null", async () => {
  const disk = new SimDisk();
  expect(readReport(disk, "/h", null)).toBeNull();
  disk.plant("/h/recovery/reports/x.json", Buffer.from("{"));
  disk.plant("/h/recovery/secret.json", Buffer.from('{"items":[]}'));
  expect(readReport(disk, "/h", "x")).toBeNull();
  expect(readReport(disk, "/h", "../secret")).toBeNull();
});

test("the cause of a start: clean, the daemon's crash, the machine's, or a reboot after a clean end", async () => {
  let world = simWorld(1);
  const cause = async () => {
    const found = detectCause({ ...world, home: "/h" });
    await removeCleanEnd({ ...world, home: "/h" });
    return found.cause;
  };
  const recovered = () => writeLastBoot({ ...world, home: "/h" });
  const stopped = () => writeCleanEnd({ ...world, home: "/h" });
  expect(await cause()).toBe("clean start"); // The first one ever.
  await recovered();
  world = afterKill(world);
  expect(await cause()).toBe("daemon crash");
  await stopped();
  world = afterKill(world);
  expect(await cause()).toBe("clean start");
  expect(await cause()).toBe("daemon crash"); // The marker is valid for one start.
  world = afterPowerCut(world, nothing);
  expect(await cause()).toBe("machine crash");
  world = afterKill(world);
  expect(await cause()).toBe("machine crash"); // Until a recovery has completed.
  await recovered();
  await stopped();
  world = afterPowerCut(world, nothing);
  expect(await cause()).toBe("machine restart");
  world = afterKill(world);
  expect(await cause()).toBe("machine restart"); // Also if the start itself was killed.
  await recovered();
  world = afterPowerCut(world, nothing);
  expect(await cause()).toBe("machine crash"); // The old marker says nothing about this boot.
});

test("LL3 RW2 a home that was taken over says so at every start, until a report that says so is on disk", async () => {
  let world = { ...simWorld(1), home: "/h" };
  await writeLastBoot(world);
  await forgetBoot(world);
  await writeTaken(world, { from: "atlas", at: "2026-01-01T00:00:00.000Z", seq: 7, epoch: 2 });
  const restarted = () => {
    world = { ...afterPowerCut(world, nothing), home: "/h" };
    return { ...detectCause(world), down: wasDown(world) };
  };
  const taken = { cause: "taken over", from: "atlas", down: true } as const;
  expect(restarted()).toEqual(taken);
  await writeLastBoot(world); // Its report is not written yet, so this says nothing.
  expect(restarted()).toEqual(taken);
  const said: string[] = [];
  const writer = () => new ReportWriter(world, (words) => said.push(words));
  await writer().add(report(1));
  expect(restarted()).toEqual(taken); // Another report.
  world.disk.readOnly = true;
  await writer().add({ ...report(2), cause: "taken over", from: "atlas" });
  expect([said.length, readTaken(world)?.from]).toEqual([1, "atlas"]);
  world.disk.readOnly = false;
  await writer().add({ ...report(3), cause: "taken over", from: "atlas" });
  expect(readTaken(world)).toBeUndefined();
  world = { ...afterKill(world), home: "/h" };
  expect([detectCause(world), wasDown(world)]).toEqual([{ cause: "daemon crash" }, false]);
});
