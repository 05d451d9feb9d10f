// What is known about a terminal's last moments: its record in the last checkpoint, and its screen.
// LM1. Doubtful records are not used (TC-6): the terminal is restored from the log alone, and the reason is reported.
// LM2. A snapshot may cover more than is left of the tape. It is the best available copy of that screen, and stays
//      valid as long as nothing else is written at the offsets it covers: so the next generation begins after it (R5 of
//      holder/recorder.ts).
// LM3. What was seen after the checkpoint takes precedence over it.
import { screenOf } from "../../core/terminal/checkpoint.ts";
import type { Known } from "../../core/terminal/restoration.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import type { HolderQuestion } from "../../wire/holder/protocol.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Screens } from "./screens.ts";

export class LastMoments {
  readonly #checkpoints: Pick<Checkpoints, "lastSeen" | "lastSighting">;
  readonly #screens: Pick<Screens, "farewell" | "reply">;

  constructor(
    checkpoints: Pick<Checkpoints, "lastSeen" | "lastSighting">,
    screens: Pick<Screens, "farewell" | "reply">,
  ) {
    this.#checkpoints = checkpoints;
    this.#screens = screens;
  }

  async known(id: string): Promise<Known> {
    const last = await this.#checkpoints.lastSeen(id);
    const seen = this.#checkpoints.lastSighting(id); // LM3
    const seenTo = last?.session.screen?.offset ?? 0; // LM2
    if (last !== undefined && last.doubt !== null) return { evidence: undefined, doubt: last.doubt, seenTo }; // LM1
    const { workingDirectory, foreground, lookedAt } = {
      ...last?.session,
      ...seen,
      ...(seen && { lookedAt: seen.at }),
    };
    if (workingDirectory === undefined) return { evidence: undefined, doubt: null };
    const size = last === undefined ? {} : { size: last.session.size };
    const agent = seen === undefined ? last?.session.agent : seen.agent;
    const evidence = { workingDirectory, foreground: foreground ?? null, ...(agent && { agent }), ...size };
    return { evidence, doubt: null, seenTo, ...(lookedAt !== undefined && { lookedAt }) };
  }

  /** What is written to the tape between the old screen and the new program. Any age will do: the tape has the rest. */
  async farewell({ id, recipe }: Terminal, message: string): Promise<string> {
    const session = (await this.#checkpoints.lastSeen(id))?.session;
    const from = session?.screen == null ? {} : { from: { ...session.screen, vt: session.scrollbackSnapshot } };
    return this.#screens.farewell({ id, size: session?.size ?? recipe.size, ...from, message });
  }

  /** What the terminal says to a query of its program now. The snapshot only saves reading the whole tape. */
  async reply(terminal: Terminal, question: HolderQuestion): Promise<string | undefined> {
    const { id, recipe } = terminal;
    const session = (await this.#checkpoints.lastSeen(id))?.session;
    const from = session && screenOf(session, terminal);
    return this.#screens.reply({ ...question, id, size: recipe.size, ...(from && { from }) });
  }
}
