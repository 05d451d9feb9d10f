// The user of a sweep's terminal: makes it, types a line now and then until two checkpoints have seen this life, and
// remembers what was typed.
// TU1. A terminal that was acknowledged is there in every later life, once, and as it was asked for.
import { isFault } from "../../../src/base/fault.ts";
import { CHECKPOINT_FILE } from "../../../src/core/terminal/checkpoint.ts";
import type { Terminal } from "../../../src/core/terminal/terminal.ts";
import { holderSocket, readSpec, terminalFiles } from "../../../src/home/held/holder-files.ts";
import { HolderClient } from "../../../src/wire/holder/client.ts";
import { HOME } from "../machine.ts";
import type { Client } from "./client.ts";
import type { HoldfastMachine } from "./machine.ts";

/** Twice as often as a holder syncs its tape: so a checkpoint always sees something that is not synced yet. */
const TYPING_MS = 350;
const NAME = "one";
const RECIPE = { lane: "main", argv: ["/bin/sh"], cwd: "/u", env: {}, cols: 80, rows: 24 };

export class TerminalUser {
  /** Whether a terminal is wanted. */
  wants = false;
  terminal: Terminal | undefined;
  /** What was typed in this life. */
  readonly lines: string[] = [];
  readonly #machine: HoldfastMachine;
  #acknowledged = false;
  #count = 0;
  /** How many lines were typed when the first checkpoint of this life was seen. */
  #atFirst = Number.POSITIVE_INFINITY;
  #typedAt = 0;

  constructor(machine: HoldfastMachine) {
    this.#machine = machine;
  }

  /** The daemon lives again. */
  begin(): void {
    this.lines.length = 0;
    this.#atFirst = Number.POSITIVE_INFINITY;
  }

  /** Returns whether two checkpoints have seen this life. */
  async attend(client: Client): Promise<boolean> {
    if (!this.wants) return true;
    const found = await client.ask("terminal.list", {});
    this.#mustBeRight(found);
    this.terminal = found[0];
    if (this.terminal === undefined) await client.ask("terminal.new", { name: NAME, ...RECIPE });
    this.#acknowledged = true;
    const isDue = this.#machine.clock.elapsed() - this.#typedAt >= TYPING_MS;
    const isSeen = this.#isSeenTwice();
    if (!isSeen && isDue && this.terminal?.state.kind === "running") await this.#type(client, this.terminal.id);
    return isSeen;
  }

  #isSeenTwice(): boolean {
    const saved = Buffer.from(this.#machine.disk.peek(`${HOME}/${CHECKPOINT_FILE}`) ?? []);
    const seen = this.lines.filter((line) => saved.includes(line)).length;
    if (seen > 0) this.#atFirst = Math.min(this.#atFirst, this.lines.length);
    return seen > this.#atFirst;
  }

  /** TU1 */
  #mustBeRight(found: readonly Terminal[]): void {
    if (found.length !== 1 && (this.#acknowledged || found.length > 0)) throw new Error(`${found.length} terminals`);
    for (const { name, recipe, policy } of found)
      if (name !== NAME || policy !== "auto" || recipe.argv.join() !== RECIPE.argv.join() || recipe.cwd !== RECIPE.cwd)
        throw new Error(`the terminal has become ${name} ${policy} ${JSON.stringify(recipe)}`);
  }

  async #type(client: Client, id: string): Promise<void> {
    const { sockets, disk } = this.#machine.doors(client.me);
    const token = readSpec(terminalFiles(disk, HOME, id))?.token ?? "";
    this.#count += 1;
    const line = `line-${this.#count}-of-them`;
    const holder = new HolderClient((events) => sockets.connect(holderSocket(HOME, id), events), {
      token,
      writer: line,
    });
    try {
      if (!(await holder.connect()).ok) return;
      if ((await holder.input(Buffer.from(`${line} \u001b[32m終端\u001b[0m\n`))).ok) this.lines.push(line);
      this.#typedAt = this.#machine.clock.elapsed();
      holder.close();
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }
}
