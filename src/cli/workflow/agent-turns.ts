// The turns of an agent that works on a step, formatted like `agent log`.
import { agentSession } from "../../core/agent/agent.ts";
import type { Console } from "../../world/console.ts";
import { ToldLog, textOf } from "../agent/history.ts";
import { rowView } from "../agent/prompt-block.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { DurableEnd } from "../log/durable.ts";
import { cursorAt, inOrder } from "../log/merge.ts";
import { endOf, steadyView } from "../log/view.ts";

export class AgentTurns {
  readonly #world: DaemonCommandWorld;
  readonly #home: string;
  readonly #session: string;
  readonly #cursor = cursorAt();
  readonly #told: ToldLog;
  #shown = 0;

  constructor(world: DaemonCommandWorld, home: string, agent: string) {
    this.#world = world;
    this.#home = home;
    this.#session = agentSession(agent);
    this.#told = new ToldLog(rowView(world.console, world.console.out));
  }

  /** Prints what is new since the last call: everything, or while it is running, only what is certainly on disk. */
  async print({ out }: Pick<Console, "out">, all: boolean): Promise<void> {
    const view = await steadyView(this.#world, this.#home);
    const opened = { home: this.#home, view, sessions: [this.#session] };
    const until = all ? endOf(view) : new DurableEnd(this.#world.disk).of(opened);
    this.#cursor.next = 0; // There may be more by now.
    const found = inOrder(view, new Map([[this.#session, this.#cursor]]), { from: this.#shown + 1, until }, []);
    const text = textOf(this.#told.rows([...found]));
    this.#shown = Math.max(this.#shown, until);
    if (text !== "") await out.write(text);
  }
}
