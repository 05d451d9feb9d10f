// What the simulated programs themselves have seen and done: evidence that no crash of the daemon or the machine takes
// back, and that the daemon cannot touch.
// WI1. A generation of a terminal's program is started at most once, and two programs of a terminal never run together.
// WI2. A line is typed into a program at most once.
// WI3. An attempt acts at most once.
import type { Born } from "../machine.ts";

/** What a step did: its key and try, and the attempt. */
export type Mark = { readonly mark: string; readonly attempt: string };

export class Witness {
  readonly #failed: (words: string) => void;
  readonly #started = new Set<string>();
  readonly running = new Map<string, Born>();
  readonly typed = new Set<string>();
  readonly marks: Mark[] = [];
  readonly notes: string[] = [];

  constructor(failed: (words: string) => void) {
    this.#failed = failed;
  }

  /** WI1 */
  started(id: string, generation: number, born: Born): void {
    const name = `${id} in generation ${generation}`;
    if (this.#started.has(name)) this.#failed(`${name} is started twice`);
    if (this.running.has(id)) this.#failed(`two programs of ${id} run together`);
    this.#started.add(name);
    this.running.set(id, born);
    born.life.onEnd(() => void this.running.delete(id));
  }

  /** WI2 */
  read(line: string): void {
    if (this.typed.has(line)) this.#failed(`${line} is typed twice`);
    this.typed.add(line);
  }

  /** WI3 */
  acted(mark: Mark): void {
    if (this.marks.some(({ attempt }) => attempt === mark.attempt)) this.#failed(`${mark.mark} acts twice`);
    this.marks.push(mark);
  }
}
