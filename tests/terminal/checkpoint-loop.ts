// Writes checkpoints forever, one session each, named by its number; prints each number once it is durable. Meant to be
// killed.
import { CheckpointWriter } from "../../src/daemon/terminal/checkpoint-writer.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { screenText, sessionOf } from "./checkpoint-sessions.ts";

const home = process.argv[2] ?? "";
const writer = new CheckpointWriter({ disk: realDisk(), clock: realClock(), home }, () => undefined);
for (let n = Number(process.argv[3]); ; n += 1) {
  const saved = await writer.write([sessionOf(n, { scrollbackSnapshot: screenText(100_000) })]);
  if (!saved.ok) throw new Error(saved.error.message);
  process.stdout.write(`${n}\n`);
}
