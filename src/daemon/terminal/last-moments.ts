// What is known of a terminal's last moments: what the last checkpoint says of it, and its old screen.
// LM1. What is in doubt is not used (TC-6): the terminal comes back from the log alone, and is told why.
// LM2. A snapshot may have seen more than is left of the tape. It is the best there is of that screen, and good for as long as nothing else
//      is written at offsets it has seen: so the next generation begins behind it (R5 of holder/recorder.ts).
import type { Known } from "../../core/terminal/restoration.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Screens } from "./screens.ts";

export class LastMoments {
  readonly #checkpoints: Pick<Checkpoints, "lastSeen">;
  readonly #screens: Pick<Screens, "farewell">;

  constructor(checkpoints: Pick<Checkpoints, "lastSeen">, screens: Pick<Screens, "farewell">) {
    this.#checkpoints = checkpoints;
    this.#screens = screens;
  }

  async known(id: string): Promise<Known> {
    const last = await this.#checkpoints.lastSeen(id);
    if (last === undefined) return { evidence: undefined, doubt: null };
    const { workingDirectory, foreground, size, screen } = last.session;
    const seenTo = screen?.offset ?? 0; // LM2
    if (last.doubt !== null) return { evidence: undefined, doubt: last.doubt, seenTo }; // LM1
    return { evidence: { workingDirectory, foreground, size }, doubt: null, seenTo };
  }

  /** What goes on the tape between the old screen and the new program. A screen of any age is a screen: its bytes are on the tape. */
  async farewell({ id, recipe }: Terminal, message: string): Promise<string> {
    const session = (await this.#checkpoints.lastSeen(id))?.session;
    const from = session?.screen == null ? {} : { from: { ...session.screen, vt: session.scrollbackSnapshot } };
    return this.#screens.farewell({ id, size: session?.size ?? recipe.size, ...from, message });
  }
}
