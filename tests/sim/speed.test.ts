// How fast the simulated disk is: printed, because a crash sweep lives from it, and not asserted, because machines
// differ.
import { test } from "bun:test";
import { SimDisk } from "./disk.ts";
import { everything } from "./survive.ts";

const ROUNDS = 20_000;

function perSecond(act: () => void): string {
  for (let warm = 0; warm < 500; warm += 1) act();
  const start = performance.now();
  for (let round = 0; round < ROUNDS; round += 1) act();
  return `${Math.round((ROUNDS / (performance.now() - start)) * 1000).toLocaleString("en")}/s`;
}

test("the simulated disk is fast enough for crash sweeps (figures printed, not asserted)", () => {
  const disk = new SimDisk();
  for (let file = 0; file < 10; file += 1) disk.plant(`/home/wal/${file}`, new Uint8Array(8192));
  const file = disk.open("/home/wal/1", "write");
  const line = new Uint8Array(200);
  const figures = {
    read: perSecond(() => file.read(line, 100)),
    stat: perSecond(() => disk.stat("/home/wal/2")),
    "write + sync": perSecond(() => {
      file.write(line, 400);
      file.datasyncBlocking();
    }),
    fork: perSecond(() => disk.fork()),
    "fork + write": perSecond(() => disk.fork().open("/home/wal/3", "write").write(line, 0)),
    "power cut": perSecond(() => disk.powerCut(everything)),
  };
  console.log(`simulated disk, 10 files of 8 KB: ${JSON.stringify(figures)}`);
});
