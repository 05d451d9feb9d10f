// A program that is killed: `bun bench/victim.ts <home> <events>` writes that many events, saves a checkpoint, writes a
// tail of acknowledged events that only the write-ahead log has, and dies by SIGKILL.
import { foldOn, foldStore, saveFold } from "./fold.ts";
import { SESSIONS, TAIL } from "./histories.ts";
import { fill, openLog } from "./writers.ts";

const [home = "", events = ""] = process.argv.slice(2);
const log = await openLog(home);
await fill(log, SESSIONS, Number(events));
await log.drain();
const fold = new Map();
foldOn(fold, log);
await saveFold(foldStore(home), fold, log.durable);
await fill(log, SESSIONS, TAIL);
process.kill(process.pid, "SIGKILL");
