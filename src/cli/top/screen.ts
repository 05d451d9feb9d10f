// The live screen: draws what the feed says, and does what keys ask for.
// SC1. The window is given back as it was, however this ends (UT1 of world/terminal.ts).
// SC2. What was seen is what the terminal has accepted; keys are decided by it (TP1 of state.ts).
// SC3. One frame at a time. News that come while one is written are in the next.
import type { Result } from "../../base/result.ts";
import type { EndSignal } from "../../world/console.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { attachNamed } from "../terminal/attach.ts";
import { type AskedAct, doneText, perform } from "./act.ts";
import { TopFeed } from "./feed.ts";
import { KeyReader } from "./keys.ts";
import { frameOf, seenAfter } from "./layout.ts";
import { BEGIN, CLEAR, changedRows, drawnLine, FAREWELL } from "./paint.ts";
import type { Target } from "./rows.ts";
import { type Act, FIRST, NOTHING_SEEN, noted, press, type Seen, type TopState, withoutPrompt } from "./state.ts";

export class TopScreen {
  readonly #world: DaemonCommandWorld;
  readonly #home: string;
  readonly #feed: TopFeed;
  readonly #keys = new KeyReader();
  readonly #over = Promise.withResolvers<EndSignal | undefined>();
  #state: TopState = FIRST;
  #seen: Seen = NOTHING_SEEN;
  /** What is on the screen, row by row; empty if that is not known. */
  #rows: readonly string[] = [];
  #wasUp = false;
  #giveBack: (() => void) | undefined;
  #drawing: Promise<void> | undefined;
  #isStale = false;

  constructor(world: DaemonCommandWorld, home: string) {
    this.#world = world;
    this.#home = home;
    this.#feed = new TopFeed(world, home, {
      lists: (news) => this.#become(noted(this.#state, { lists: { ...this.#state.lists, ...news } })),
      link: (isUp) => this.#linked(isUp),
    });
  }

  /** Resolves when the person leaves, or a signal asks for it. */
  async run(): Promise<EndSignal | undefined> {
    this.#take();
    try {
      return await this.#over.promise;
    } finally {
      this.#feed.close();
      await this.#release(); // SC1
    }
  }

  #take(): void {
    this.#giveBack = this.#world.terminal.take(
      {
        typed: (bytes) => this.#typed(bytes),
        resized: () => this.#redraw(),
        told: (signal) => this.#over.resolve(signal),
      },
      () => FAREWELL,
    );
    this.#redraw(BEGIN);
  }

  async #release(): Promise<void> {
    const giveBack = this.#giveBack;
    this.#giveBack = undefined;
    try {
      await this.#drawing;
    } finally {
      giveBack?.();
    }
  }

  #linked(isUp: boolean): void {
    const back = this.#wasUp ? "The daemon is back." : "";
    const message = isUp ? back : "The daemon is away: what is shown is what was known. Trying again …";
    this.#wasUp ||= isUp;
    this.#become(noted(this.#state, { isUp, message }));
  }

  #typed(bytes: Uint8Array): void {
    for (const key of this.#keys.push(bytes)) {
      const { state, act } = press(this.#state, key, this.#seen); // SC2
      this.#become(state);
      if (act !== undefined) this.#do(act);
    }
  }

  #do(act: Act): void {
    if (act.kind === "quit") this.#over.resolve(undefined);
    else if (act.kind === "redraw") this.#redraw();
    else if (act.kind === "attach") this.#attach(act.of).catch(this.#over.reject);
    else this.#ask(act).catch(this.#over.reject);
  }

  async #ask(act: AskedAct): Promise<void> {
    const done = await perform(this.#world, this.#home, act);
    if (act.kind === "answer" && done.ok) this.#state = withoutPrompt(this.#state, act.prompt.id);
    this.#say(done.ok ? doneText(act, this.#state.lists.prompts.length) : refusalText(done));
  }

  /** The window is the terminal's until the person comes back. */
  async #attach({ of }: Target): Promise<void> {
    await this.#release();
    const left = await attachNamed(this.#world, this.#home, {}, of.id);
    this.#take();
    this.#say(left.ok ? `Back from ${of.name}.` : refusalText(left));
  }

  #say(message: string): void {
    this.#become({ ...this.#state, message });
  }

  #become(state: TopState): void {
    this.#state = state;
    this.#draw();
  }

  /** All of it, whatever is there. */
  #redraw(first: string = CLEAR): void {
    this.#rows = [];
    this.#draw(first);
  }

  /** SC3 */
  #draw(first = ""): void {
    this.#isStale = true;
    this.#first += first;
    this.#drawing ??= this.#drawAll().finally(() => {
      this.#drawing = undefined;
    });
    this.#drawing.catch(this.#over.reject);
  }

  /** What is written before the next frame. */
  #first = "";

  async #drawAll(): Promise<void> {
    while (this.#isStale && this.#giveBack !== undefined) {
      this.#isStale = false;
      await this.#drawOnce();
    }
  }

  async #drawOnce(): Promise<void> {
    const { terminal, console } = this.#world;
    const { widthOf, minutesAhead } = console;
    const size = terminal.size();
    const frame = frameOf(this.#state, { size, widthOf, minutesAhead });
    const rows = frame.lines.map((line) => drawnLine(line, size.cols, console));
    const text = `${this.#first}${changedRows(this.#rows, rows)}`;
    [this.#first, this.#rows] = ["", rows];
    if (text !== "") await terminal.write(Buffer.from(text));
    this.#seen = seenAfter(frame, this.#seen); // SC2
  }
}

function refusalText(refused: Result<unknown> & { readonly ok: false }): string {
  return `${refused.error.message} ${refused.error.hint}`;
}
