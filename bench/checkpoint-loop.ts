// A program that does nothing but checkpoints of 25 terminals that have all just printed something, one after the
// other; a minute apart in life. `bun bench/checkpoint-loop.ts <directory>`: prints a line after the first, and
// runs until it is stopped.
import { CheckpointWriter } from "../src/daemon/terminal/checkpoint-writer.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { openTerminals } from "./open-terminals.ts";

const directory = process.argv[2] ?? "";
const terminals = openTerminals({ directory }, 25);
const writer = new CheckpointWriter({ disk: realDisk(), clock: realClock(), home: terminals.home }, () => undefined);
let over = false;
process.on("SIGTERM", () => {
  over = true;
});
for (let time = 0; !over; time += 1) {
  terminals.print();
  const saved = await writer.write(await terminals.state.sessions());
  if (!saved.ok) throw new Error(saved.error.message);
  if (time === 0) process.stdout.write("going\n");
}
await terminals.close();
