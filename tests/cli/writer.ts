// A process that writes a log, for tests that read it meanwhile or after it was killed.
//   kill DRAINED WAITING   writes, drains, writes more, and dies by SIGKILL once that is durable
//   on writes without end, one line with the last durable seq on stdout now and then; ends with its stdin
import { openLog, pretendDaemon, write } from "./homes.ts";

const [home = "", mode = "", ...counts] = process.argv.slice(2);
const log = await openLog(home);

if (mode === "kill") {
  const [drained = 0, waiting = 0] = counts.map(Number);
  const all = drained + waiting;
  await write(log, 0, drained);
  await log.drain();
  await write(log, drained, all - 1);
  await write(log, all - 1, all); // A batch of its own: it shows that the previous one is durable.
  process.kill(process.pid, "SIGKILL");
}

pretendDaemon(home);
let going = true;
void Bun.stdin.text().then(() => {
  going = false;
});
for (let i = 0; going; ) {
  const next = i + 1 + Math.floor(Math.random() * 40);
  await write(log, i, next);
  i = next;
  if (Math.random() < 0.1) console.log(log.durable);
  // Pauses of varying length: bursts, single entries, and drains in between.
  if (Math.random() < 0.2) await Bun.sleep(Math.random() * 150);
}
await log.close();
console.log(log.durable);
