// `tail --follow` and similar: shows what becomes durable, each entry once and in order, until Ctrl-C or `enough`.
// B1. One look shows everything up to a seq that is known to be on disk and in the view, and the next look starts after
//     it: drains and reused segments in between change nothing.
// B2. Changes wake it; it does not poll. Opening views takes at most a fifth of its time, however busy the log is.

import { pause } from "../../world/wait.ts";
import type { CommandWorld } from "../command-world.ts";
import { Changes } from "./changes.ts";
import { DurableEnd } from "./durable.ts";
import { type Cursors, cursorAt, type EntryFound, type Harm, inOrder } from "./merge.ts";
import { sayHarms } from "./print-entries.ts";
import { type Opened, steadyView } from "./view.ts";

/** Changes come in bursts: a batch and its drain touch many files. */
const GATHER_MS = 30;
const REST_FACTOR = 4;

export type Following = {
  readonly home: string;
  /** Only this session; undefined means all. */
  readonly session: string | undefined;
  readonly cursors: Cursors;
  /** Everything up to this seq has been shown. */
  shown: number;
};

/** Shows the entries, and returns whether that was enough. */
export type Show = (entries: Iterable<EntryFound>) => Promise<"enough" | "more">;

/** Returns `stop` on Ctrl-C. */
export async function follow(world: CommandWorld, following: Following, show: Show): Promise<"stop" | "enough"> {
  const { console, clock } = world;
  const changes = new Changes(world.watch, following.home);
  const durable = new DurableEnd(world.disk);
  const stopped = console.interrupted().then(() => "stop" as const);
  changes.follow(following.session === undefined ? [] : [following.session]);
  let took = 0;
  try {
    while ((await Promise.race([stopped, changes.next()])) !== "stop") {
      await Promise.race([stopped, pause(clock, Math.max(GATHER_MS, REST_FACTOR * took))]); // B2
      const began = clock.elapsed();
      changes.seen();
      const opened = await openAgain(world, following);
      changes.follow(opened.sessions);
      const until = durable.of(opened);
      took = clock.elapsed() - began; // The time to show them does not count.
      if ((await look(world, following, { opened, until, show })) === "enough") return "enough";
    }
    return "stop";
  } finally {
    changes.stop();
  }
}

async function openAgain(world: CommandWorld, { home, session }: Following): Promise<Opened> {
  const view = await steadyView(world, home);
  return { home, view, sessions: session === undefined ? view.sessions : [session] };
}

type Look = { readonly opened: Opened; readonly until: number; readonly show: Show };

async function look(
  world: CommandWorld,
  following: Following,
  { opened, until, show }: Look,
): Promise<"enough" | "more"> {
  const { cursors } = following;
  for (const session of opened.sessions) {
    const cursor = cursors.get(session);
    if (cursor === undefined) cursors.set(session, cursorAt());
    else cursor.next = 0; // There may be more by now.
  }
  const harms: Harm[] = [];
  const range = { from: following.shown + 1, until };
  const enough = await show(inOrder(opened.view, cursors, range, harms));
  await sayHarms(world.console, harms);
  following.shown = Math.max(following.shown, until); // B1
  return enough;
}
