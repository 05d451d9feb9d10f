// Starts the holders of terminals, and passes on what must not be written to disk.
// HS1. Secrets reach only the first generation, and only its holder: they are kept until its program is started.
import type { Terminal } from "../../core/terminal/terminal.ts";
import { terminalDirectory } from "../../home/held/holder-files.ts";
import type { Variables } from "../../wire/holder/secrets.ts";
import { holderStart } from "../../wire/holder/start.ts";
import type { HolderCommand } from "../held/holder-program.ts";
import { LaunchedHolders } from "../held/launched-holders.ts";
import { SpareHolder } from "../held/spare-holder.ts";
import type { DaemonWorld } from "../ports.ts";

export class HolderStarts {
  readonly #world: DaemonWorld;
  readonly #command: () => HolderCommand;
  readonly #launched: LaunchedHolders;
  readonly #spare: SpareHolder;
  readonly #secrets = new Map<string, Variables>();

  /** `command`: the program that holders are started from. */
  constructor(world: DaemonWorld, command: () => HolderCommand) {
    this.#world = world;
    this.#command = command;
    this.#launched = new LaunchedHolders(world.processes);
    this.#spare = new SpareHolder(world, command);
  }

  /** Keeps variables for a terminal that is about to be created (HS1). */
  setSecrets(id: string, secrets: Variables): void {
    if (Object.keys(secrets).length > 0) this.#secrets.set(id, secrets);
    else this.#secrets.delete(id);
  }

  launch(terminal: Terminal): void {
    this.#launched.launch(terminal.id, () => this.#give(terminal) ?? this.#start(terminal));
  }

  relaunch(terminal: Terminal): void {
    this.#launched.replace(terminal.id, () => this.#start(terminal));
  }

  /** Whether the holder that it was launched with lives. */
  isAlive(id: string): boolean {
    return this.#launched.isAlive(id);
  }

  kill(id: string): void {
    this.#launched.kill(id);
  }

  /** Called when it is known what became of the start. */
  over(id: string, runs: boolean): void {
    if (runs && this.#launched.has(id)) this.#spare.prepare();
    this.#secrets.delete(id);
    this.#launched.forget(id);
  }

  close(): void {
    this.#spare.close();
  }

  #give(terminal: Terminal): number | undefined {
    return this.#spare.give({ directory: this.#directory(terminal), secrets: this.#given(terminal) });
  }

  #start(terminal: Terminal): number {
    const { children, self } = this.#world;
    const { runtime, entry } = this.#command();
    const given = { ours: self.environment(), secrets: this.#given(terminal) };
    return children.detached(holderStart(runtime, entry, this.#directory(terminal), given));
  }

  #directory({ id }: Terminal): string {
    return terminalDirectory(this.#world.home, id);
  }

  /** HS1 */
  #given({ id, generation }: Terminal): Variables {
    return generation === 1 ? (this.#secrets.get(id) ?? {}) : {};
  }
}
