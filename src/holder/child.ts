// The one child of a holder, on a terminal or on pipes, with the same interface.
// N1. Its environment is that of the spec, with a default TERM, and the marker that identifies orphans.
// N2. Writes are accepted at once and delivered in order; `waiting` is how much the child has not accepted yet.
import { isFault } from "../base/fault.ts";
import type { HolderSize, HolderSpec } from "../wire/holder/protocol.ts";
import type { Children, Command, Ending, PipeChild } from "../world/children.ts";

export interface Child {
  readonly pid: number;
  readonly waiting: number;
  readonly readsKeys: boolean;
  write(bytes: Uint8Array): void;
  endInput(): void;
  resize(size: HolderSize): void;
  signal(name: string): boolean;
}

export type ChildEvents = {
  /** On pipes, a promise pauses the reading until it resolves. */
  output(bytes: Uint8Array): void | Promise<void>;
  /** Its stderr; on a terminal this is part of the output. */
  errors(bytes: Uint8Array): void;
  /** No input is queued any more. */
  drained(): void;
  ended(ending: Ending): void;
};

export const MARKER = "HOLDFAST_TERMINAL";
const TERMINAL_NAME = "xterm-256color";

/** Throws a Fault (ENOENT, EACCES …) if it cannot be started. */
export function startChild(children: Children, spec: HolderSpec, size: HolderSize, events: ChildEvents): Child {
  const command = commandOf(spec);
  if (spec.mode === "pipe") return onPipes(children, command, events);
  const child = children.pty(command, size, events);
  // A terminal's input does not end by itself: a client sends the key for it.
  return Object.assign(child, { endInput: () => undefined });
}

export function commandOf(spec: HolderSpec): Command {
  const [program = "", ...words] = spec.argv;
  const named = spec.mode === "pty" ? { TERM: TERMINAL_NAME } : {};
  return { argv: [program, ...words], cwd: spec.cwd, env: { ...named, ...spec.env, [MARKER]: spec.id } }; // N1
}

function onPipes(children: Children, command: Command, events: ChildEvents): Child {
  const child = children.pipes(command, {
    output: (bytes, from) => (from === "stdout" ? events.output(bytes) : events.errors(bytes)),
    ended: events.ended,
  });
  const input = new PipeInput(child, events.drained);
  return {
    pid: child.pid,
    readsKeys: false,
    get waiting() {
      return input.waiting;
    },
    write: (bytes) => input.write(bytes),
    endInput: () => input.end(),
    resize: () => undefined,
    signal: child.signal,
  };
}

class PipeInput {
  readonly #child: PipeChild;
  readonly #drained: () => void;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(child: PipeChild, drained: () => void) {
    this.#child = child;
    this.#drained = drained;
  }

  get waiting(): number {
    return this.#waiting;
  }

  write(bytes: Uint8Array): void {
    const copy = new Uint8Array(bytes);
    this.#waiting += copy.length;
    this.#last = this.#last.then(() => this.#hand(copy)); // N2
  }

  end(): void {
    this.#last = this.#last.then(() => this.#child.closeInput());
  }

  async #hand(bytes: Uint8Array): Promise<void> {
    try {
      await this.#child.write(bytes);
    } catch (error) {
      // The child has closed its input, or ended. Its end will be reported.
      if (!isFault(error)) throw error;
    }
    this.#waiting -= bytes.length;
    if (this.#waiting === 0) this.#drained();
  }
}
