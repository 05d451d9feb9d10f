// An agent's text as it comes: pieces from the daemon, each of which comes again, as part of a whole, in its log.
// PS1. A piece is shown once: the text in the log then begins after what was shown of it. If pieces were missed, all of
//      it is shown when it is there.
// PS2. A piece that comes after its text is dropped; offsets say so.
// PS3. Without a daemon, or if we are too slow for it, the log is enough; we come back when it does.

import { isFault } from "../../base/fault.ts";
import { dial } from "../../home/dial.ts";
import type { Entry } from "../../log/session/entry.ts";
import { type PartialText, partialOf, partialTopic } from "../../wire/rpc/partial.ts";
import { agentEventOf } from "../../wire/stored/agent.ts";
import { pause } from "../../world/wait.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

type Shown = { readonly text: string; readonly part: boolean };
type Position = { readonly generation: number; readonly offset: number };

export class PartialSeries {
  /** What was shown of a text that is not in the log yet. */
  #shown = "";
  #told: Position = { generation: 0, offset: 0 };

  /** What is to be shown of it; undefined if nothing is. */
  next({ generation, offset, from, text, joins }: PartialText): Shown | undefined {
    const { generation: known, offset: through } = this.#told;
    if (generation < known || (generation === known && offset <= through)) return undefined; // PS2
    if (from !== 0 && from !== this.#shown.length) return undefined; // PS1
    this.#shown = from === 0 ? text : this.#shown + text;
    return { text, part: from !== 0 || joins === true };
  }

  /** What is to be shown of a text in the log (PS1). */
  whole({ text, part }: Shown): Shown {
    const shown = this.#shown;
    this.#shown = "";
    return shown !== "" && text.startsWith(shown) ? { text: text.slice(shown.length), part: true } : { text, part };
  }

  /** All of this entry was shown. One without events only says how far the pieces have come. */
  told(entry: Entry): void {
    const event = entry.event === "agent.read" ? agentEventOf(entry) : undefined;
    if (event?.event !== "agent.read" || event.data.events.length === 0) return;
    this.#told = event.data;
    this.#shown = "";
  }
}

/** PS3. Between two attempts to connect. */
const AGAIN_MS = 1_000;

/** Passes on pieces of this agent's text until it is stopped. */
export function listen(
  world: DaemonCommandWorld,
  home: string,
  id: string,
  heard: (partial: PartialText) => void,
): { stop(): void } {
  let isOver = false;
  let end: (() => void) | undefined;
  const once = async () => {
    const line = await dial(world, home);
    const client = line.ok ? line.value : undefined;
    if (client === undefined) return;
    end = () => client.close();
    client.onNotice = ({ data }) => {
      const partial = partialOf(data);
      if (partial?.id === id && !isOver) heard(partial);
    };
    const subscribed = await client.call("subscribe", { topics: [partialTopic(id)] });
    if (isOver || !subscribed.ok) client.close();
    await client.closed;
  };
  const work = async () => {
    for (; !isOver; await pause(world.clock, AGAIN_MS)) await once().catch(onFault);
  };
  void work();
  return {
    stop: () => {
      isOver = true;
      end?.();
    },
  };
}

/** PS3 */
function onFault(error: unknown): void {
  if (!isFault(error)) throw error;
}
