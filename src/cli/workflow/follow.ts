// Follows a run until it stops: done, failed, interrupted, cancelled, or waiting for a person.
// FL1. If the daemon dies, following continues with the next one: each step is shown once, and the end is not missed.
// FL2. Notices only wake us; what is shown is the daemon's reply to a query.
// FL3. Ctrl-C interrupts the run and waits for its end; leaving in another way keeps it running.
import { ok, type Result } from "../../base/result.ts";
import { isObject } from "../../wire/lines.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import type { ListedRun, ShownRun } from "../../wire/rpc/workflow.ts";
import { pause } from "../../world/wait.ts";
import { liveDaemon, onDaemon } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { isUnderWay } from "./rows.ts";

/** How often the display is refreshed without news: it shows the time. */
const TICK_MS = 1_000;
/** While a step's output is shown: often enough to look immediate. */
const LOOK_MS = 200;

export interface RunView {
  /** Whether output is shown while it is written. */
  readonly live: boolean;
  show(run: ShownRun): Promise<void>;
  /** Nothing is known to have changed, but files on disk may have. */
  look(): Promise<void>;
  /** Nothing more is shown: removes the live lines. */
  end(): Promise<void>;
}
export type Followed = { readonly run: ListedRun; readonly left: boolean };

export async function follow(
  world: DaemonCommandWorld,
  home: string,
  id: string,
  sight: RunView,
): Promise<Result<Followed>> {
  const left = Promise.withResolvers<"left">();
  world.console.watching((wish) => {
    if (wish === "leave") left.resolve("left");
    else void onDaemon(world, home, (client) => client.call("workflow.interrupt", { id })); // FL3
  });
  let from = 0;
  for (;;) {
    const client = await liveDaemon(world, home);
    if (!client.ok) return client;
    const watched = await watch(world, client.value, { id, from, sight, left: left.promise });
    client.value.close();
    if (!watched.ok) {
      if (watched.error.code !== "daemon.gone") return watched; // FL1
    } else if (watched.value.kind === "over") return ok(watched.value);
    else from = watched.value.from;
  }
}

type Watching = {
  readonly id: string;
  readonly from: number;
  readonly sight: RunView;
  readonly left: Promise<"left">;
};

type Watched = ({ readonly kind: "over" } & Followed) | { readonly kind: "gone"; readonly from: number };

async function watch(world: DaemonCommandWorld, client: RpcClient, watching: Watching): Promise<Result<Watched>> {
  const { id, sight, left } = watching;
  let { from } = watching;
  await client.call("subscribe", { topics: ["workflow.*"] });
  const gone = client.closed.then(() => "gone" as const);
  for (;;) {
    const changed = nextChange(client, id);
    const shown = await client.call("workflow.show", { id, from });
    if (!shown.ok) return shown.error.code === "daemon.gone" ? ok({ kind: "gone", from }) : shown;
    await sight.show(shown.value);
    from = shown.value.from + shown.value.records.length; // Not all older steps are kept.
    if (from < shown.value.ended) continue;
    if (!isUnderWay(shown.value.state)) return ok({ kind: "over", run: shown.value, left: false });
    const next = await news(world, Promise.race([changed, gone, left]), sight); // FL2
    if (next === "left") return ok({ kind: "over", run: shown.value, left: true });
    if (next === "gone") return ok({ kind: "gone", from });
  }
}

/** Waits for news or the next refresh; live output is looked at meanwhile. */
async function news({ clock }: DaemonCommandWorld, coming: Promise<News>, sight: RunView): Promise<News> {
  for (let waited = 0; waited < TICK_MS; waited += sight.live ? LOOK_MS : TICK_MS) {
    const paused = pause(clock, sight.live ? LOOK_MS : TICK_MS).then(() => "paused" as const);
    const came = await Promise.race([coming, paused]);
    if (came !== "paused") return came;
    await sight.look();
  }
  return "changed";
}

type News = "changed" | "gone" | "left";

function nextChange(client: RpcClient, id: string): Promise<"changed"> {
  return new Promise((resolve) => {
    client.onNotice = ({ data }) => {
      if (isObject(data) && data["id"] === id) resolve("changed");
    };
  });
}
