// What the daemon says about a home, fetched again when it says that something has changed.
// FD1. Nothing is asked while nothing happens: the daemon's notices wake us, and while it is away only its socket is
//      tried, once a second at most.
// FD2. After each connection everything is fetched: what happened in between sent no notices.
import { joinPath } from "../../base/path.ts";
import { Refresher } from "../../base/refresher.ts";
import { DaemonLink } from "../../home/daemon-link.ts";
import { DAEMON_SOCKET, TOKEN } from "../../home/layout.ts";
import { readWhole } from "../../log/file/file.ts";
import { type Asked, allRows } from "../../wire/rpc/page.ts";
import { type ListName, listsFor } from "../../wire/rpc/topics.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import type { Lists } from "./rows.ts";

/** More runs and agents than a person looks through; `agent tree` and `workflows` list all. */
const RECENT = { newest: true, limit: 200 };

export const READS = {
  prompts: (from: Asked<"prompt.list">) => allRows(from, "prompt.list", {}),
  agents: (from: Asked<"agent.list">) => allRows(from, "agent.list", RECENT),
  terminals: (from: Asked<"terminal.list">) => allRows(from, "terminal.list", {}),
  runs: (from: Asked<"workflow.list">) => allRows(from, "workflow.list", RECENT),
} satisfies Readonly<Record<keyof Lists, unknown>>;

export type FeedEvents = {
  /** These lists are new. */
  lists(news: Partial<Lists>): void;
  /** Whether the daemon is there. */
  link(isUp: boolean): void;
};

export class TopFeed {
  readonly #link: DaemonLink;
  readonly #lists: Readonly<Record<keyof Lists, Refresher>>;

  constructor(world: DaemonCommandWorld, home: string, events: FeedEvents) {
    const { clock, sockets, disk } = world;
    const token = () => new TextDecoder().decode(readWhole(disk, joinPath(home, TOKEN)) ?? new Uint8Array()).trim();
    const feed = (list: keyof Lists) =>
      new Refresher(
        async () => {
          const rows = await READS[list](this.#link);
          if (rows.ok) events.lists({ [list]: rows.value });
        },
        (ms, fn) => void clock.after(ms, fn),
      );
    this.#lists = {
      prompts: feed("prompts"),
      agents: feed("agents"),
      terminals: feed("terminals"),
      runs: feed("runs"),
    };
    this.#link = new DaemonLink({
      ...{ clock, dial: (wire) => sockets.connect(joinPath(home, DAEMON_SOCKET), wire) },
      /** A restarted daemon may have made another. */
      get token() {
        return token();
      },
      notice: ({ topic }) => this.#refresh(listsFor(topic)), // FD1
      changed: ({ up }) => {
        events.link(up);
        if (up) this.#refresh(["prompts", "agents", "terminals", "runs"]); // FD2
      },
    });
    void this.#link.watch(["*"]);
  }

  close(): void {
    this.#link.close();
  }

  #refresh(names: readonly ListName[]): void {
    for (const name of names) if (isList(name)) this.#lists[name].refresh();
  }
}

function isList(name: ListName): name is keyof Lists {
  return name in READS;
}
