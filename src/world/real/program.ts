// Our own process, as the system sees it.
import type { Program } from "../program.ts";

/** The runtime and the entry file come before our arguments. */
const OWN_WORDS = 2;
/** Bun exits with this code after an error that nothing caught, but announces 0 if it was in a promise. */
const UNCAUGHT = 1;

export function realProgram(): Program {
  let asked = false;
  return {
    args: process.argv.slice(OWN_WORDS),
    variable: (name) => process.env[name],
    environment: () => Object.fromEntries(Object.entries(process.env).filter(isSet)),
    onSignal: (signal, fn) => void process.on(signal, fn),
    onExit: (fn) => void process.on("exit", (code) => fn(asked ? code : code || UNCAUGHT)),
    rest: async () => {
      tidy();
      await new Promise<void>((go) => void setImmediate(go));
      tidy(); // The first round frees more, which the second one returns.
    },
    exit: (code) => {
      asked = true;
      return process.exit(code);
    },
  };
}

function isSet(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined;
}

function tidy(): void {
  Bun.shrink();
  Bun.gc(true);
}
