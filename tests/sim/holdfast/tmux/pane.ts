// A pane of the simulated tmux, with the processes in it.
// PA1. A new pane is a copy of tmux's server for some milliseconds. Then it shows its old screen, if it is one that was
//      made again (REVIVAL of core/tmux/snapshot.ts), and becomes a shell with a prompt.
// PA2. tmux knows no directory for a pane that begins or whose program has ended.
// PA3. What is typed is not run.
import { REVIVAL } from "../../../../src/core/tmux/snapshot.ts";
import type { Born } from "../../machine.ts";
import { mortalClock } from "../../mortal.ts";
import type { HoldfastMachine } from "../machine.ts";

/** How it is started: where, and by which words; without any it is a shell. */
export type PaneStart = { readonly cwd: string; readonly argv: readonly string[] };

const PROMPT = "$ ";
/** PA1 */
const MAX_BEGIN_MS = 40;

export class Pane {
  readonly id: number;
  readonly start: PaneStart;
  readonly born: Born;
  cwd: string;
  title = "here";
  state: "beginning" | "shell" | "program" | "dead" = "beginning";
  /** The words of the program in front of its shell. */
  command: readonly string[] = [];
  /** What was typed at the prompt (PA3). */
  typed = "";
  /** The directories that it was in; those before `savedFrom` are not its own any more: a later one was saved. */
  readonly directories: string[];
  savedFrom = 0;
  /** When something was printed last, in seconds. */
  activity: number;
  /** Its lines; the last one is where the cursor is. */
  readonly #lines = [""];
  readonly #machine: HoldfastMachine;
  #program: Born | undefined;

  /** `server`: the words that started its server. */
  constructor(machine: HoldfastMachine, id: number, start: PaneStart, server: readonly string[]) {
    this.#machine = machine;
    this.id = id;
    this.start = start;
    this.cwd = start.cwd;
    this.directories = [start.cwd];
    this.born = machine.born();
    this.activity = Math.floor(machine.clock.now() / 1000);
    this.born.life.onEnd(() => this.#program?.life.end());
    this.#isInFront(server);
    const clock = mortalClock(machine.clock, this.born.life);
    clock.after(machine.random.int(MAX_BEGIN_MS), () => {
      this.#isInFront(start.argv);
      this.#revive();
      clock.after(machine.random.int(MAX_BEGIN_MS), () => this.#prompt());
    });
  }

  get text(): string {
    return this.#lines.join("\n");
  }

  get column(): number {
    return (this.#lines.at(-1) ?? "").length;
  }

  get row(): number {
    return this.#lines.length - 1;
  }

  /** PA2 */
  get currentPath(): string {
    return this.state === "beginning" || this.state === "dead" ? "" : this.cwd;
  }

  /** What tmux names a window after. */
  get program(): string {
    return this.command[0] ?? "sh";
  }

  print(text: string): void {
    const lines = `${this.#lines.pop() ?? ""}${text}`.split("\n");
    this.#lines.push(...lines);
    this.activity = Math.floor(this.#machine.clock.now() / 1000);
  }

  /** PA3 */
  type(text: string): void {
    this.typed += text;
    this.print(text);
  }

  /** Its shell changes its directory. */
  goTo(directory: string): void {
    this.cwd = directory;
    this.directories.push(directory);
    this.#isInFront(this.command);
  }

  run(argv: readonly string[]): void {
    this.#program?.life.end();
    this.#program = argv.length === 0 ? undefined : this.#machine.born();
    this.command = argv;
    this.state = argv.length === 0 ? "shell" : "program";
    this.#isInFront(argv);
  }

  /** Its program ends, and the pane stays (`remain-on-exit`). */
  die(): void {
    this.state = "dead";
    this.command = [];
    this.born.life.end();
  }

  /** PA1 */
  #revive(): void {
    const { argv } = this.start;
    if (!argv.includes(REVIVAL)) return;
    this.print(Buffer.from(this.#machine.disk.peek(argv.at(-1) ?? "") ?? []).toString());
  }

  #prompt(): void {
    this.state = "shell";
    this.#isInFront([]);
    this.print(PROMPT);
  }

  #isInFront(argv: readonly string[]): void {
    const { pid } = (this.#program ?? this.born).who;
    const words = argv.length === 0 ? ["-sh"] : argv;
    this.#machine.putInFront(this.born.who.pid, { pid, argv: words, cwd: this.cwd, ageMs: 0 });
  }
}
