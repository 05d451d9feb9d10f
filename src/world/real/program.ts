// Our own process, as the system sees it.
import type { Program } from "../program.ts";

/** The runtime and the entry file come before our arguments. */
const OWN_WORDS = 2;

export function realProgram(): Program {
  return {
    args: process.argv.slice(OWN_WORDS),
    variable: (name) => process.env[name],
    environment: () => Object.fromEntries(Object.entries(process.env).filter(isSet)),
    onSignal: (signal, fn) => void process.on(signal, fn),
    rest: () => {
      tidy();
      setImmediate(tidy); // The first round frees more, which the second one returns.
    },
    exit: (code) => process.exit(code),
  };
}

function isSet(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined;
}

function tidy(): void {
  Bun.shrink();
  Bun.gc(true);
}
