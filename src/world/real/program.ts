// Ourselves as the system sees us.
import type { Program } from "../program.ts";

/** The runtime and the entry file come before the words that are meant for us. */
const OWN_WORDS = 2;

export function realProgram(): Program {
  return {
    args: process.argv.slice(OWN_WORDS),
    variable: (name) => process.env[name],
    onSignal: (signal, fn) => void process.on(signal, fn),
    rest: () => {
      tidy();
      setImmediate(tidy); // What the first round has freed is given back after it, and by then there is more of it.
    },
    exit: (code) => process.exit(code),
  };
}

function tidy(): void {
  Bun.shrink();
  Bun.gc(true);
}
