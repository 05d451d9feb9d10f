// N writers on one event log, each with its own session, each waiting for its acknowledgement before it writes again.
import { EventLog } from "../src/log/event-log.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { eventOf, sessionName } from "./event.ts";
import type { Contestant } from "./rounds.ts";

export function openLog(home: string, disk = realDisk()): Promise<EventLog> {
  return EventLog.open({ disk, clock: realClock(), home });
}

/**
 * Opened and warmed: every session exists on disk before any clock starts. A run ends when its events are in the
 * session logs.
 */
export async function writersOn(home: string, writers: number): Promise<Contestant> {
  return writersTo(await openLog(home), writers);
}

export async function writersTo(log: EventLog, writers: number): Promise<Contestant> {
  const sessions = Array.from({ length: writers }, (_, index) => sessionName(index));
  const run = async (events: number) => {
    await Promise.all(sessions.map((session, index) => write(log, session, share(events, writers, index))));
    await log.drain();
  };
  await run(writers);
  return { name: `holdfast, ${writers} at a time`, run, close: () => log.close() };
}

async function write(log: EventLog, session: string, events: number): Promise<void> {
  for (let left = events; left > 0; left -= 1) {
    const ticket = log.append([eventOf(session)]);
    if (!ticket.ok) throw new Error(`the log refused an event: ${ticket.error.message}`);
    await ticket.value.durable;
  }
}

/** `events` over all writers, the first ones taking the remainder. */
function share(events: number, writers: number, index: number): number {
  return Math.floor(events / writers) + (index < events % writers ? 1 : 0);
}

/** As many events as wanted without waiting for each: how a history is made. */
export async function fill(log: EventLog, sessions: number, events: number): Promise<void> {
  let last: Promise<void> = Promise.resolve();
  for (let index = 0; index < events; ) {
    const ticket = log.append([eventOf(sessionName(index % sessions))]);
    if (ticket.ok) {
      last = ticket.value.durable;
      index += 1;
    } else if (ticket.error.code === "log.busy") await log.room();
    else throw new Error(`the log refused an event: ${ticket.error.message}`);
  }
  await last;
}
