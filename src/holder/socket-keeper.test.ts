// The socket keeper, in simulated time on a real socket.
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync, unlinkSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SimClock } from "../../tests/sim/clock.ts";
import { realSockets } from "../world/real/socket.ts";
import { SocketKeeper } from "./socket-keeper.ts";

const SILENT = { bytes: () => undefined, closed: () => undefined };
const places: string[] = [];

afterEach(() => {
  for (const place of places.splice(0)) rmSync(place, { recursive: true, force: true });
});

async function keeping() {
  const place = mkdtempSync(join(tmpdir(), "hfsk-"));
  places.push(place);
  const path = join(place, "s.sock");
  const clock = new SimClock();
  const keeper = await SocketKeeper.open({ clock, sockets: realSockets() }, path, () => SILENT);
  return { place, path, clock, keeper };
}

test("a removed path is bound again after an interval, but not after the end", async () => {
  const { path, clock, keeper } = await keeping();
  unlinkSync(path);
  clock.advance(60_000);
  while (!existsSync(path)) await new Promise((turn) => setImmediate(turn));
  (await realSockets().connect(path, SILENT)).destroy();
  keeper.close();
  expect([existsSync(path), clock.pendingTimers]).toEqual([false, 0]);
});

test("a touch changes the time of the path; without the path it does nothing", async () => {
  const { place, path, keeper } = await keeping();
  utimesSync(path, 1, 1);
  keeper.touch();
  expect(statSync(path).mtimeMs).toBeGreaterThan(1000);
  unlinkSync(path);
  keeper.touch();
  rmSync(place, { recursive: true });
  keeper.touch();
  keeper.close();
});
