// A console that records what is printed, for running commands inside a test.
import type { Console } from "../../src/world/console.ts";

export type FakeConsole = Console & {
  readonly printed: { out: string; err: string };
  /** Resolves once `expected` accepts what was printed to stdout. */
  seen(expected: (out: string) => boolean): Promise<void>;
  /** Ctrl-C. */
  interrupt(): void;
};

export type Looks = {
  readonly tty?: boolean;
  readonly columns?: number;
  readonly ahead?: number;
  readonly env?: Record<string, string>;
};

export function fakeConsole({ tty = false, columns = 80, ahead = 0, env = {} }: Looks = {}): FakeConsole {
  const printed = { out: "", err: "" };
  const waiting = new Set<() => void>();
  const interrupted = Promise.withResolvers<void>();
  const output = (name: "out" | "err") => ({
    tty,
    columns: () => columns,
    write: async (text: string) => {
      printed[name] += text;
      for (const look of waiting) look();
    },
  });
  const seen = (expected: (out: string) => boolean) =>
    new Promise<void>((done) => {
      const look = () => void (expected(printed.out) && done());
      waiting.add(look);
      look();
    });
  return {
    out: output("out"),
    err: output("err"),
    env: (name) => env[name],
    absolute: (path) => path.replace(/\/+$/, ""),
    minutesAhead: () => ahead,
    widthOf: (text) => Bun.stringWidth(text),
    interrupted: () => interrupted.promise,
    told: () => interrupted.promise.then(() => "SIGINT"),
    watching: (ear) => void interrupted.promise.then(() => ear("interrupt")),
    staying: (work) => work,
    printed,
    seen,
    interrupt: interrupted.resolve,
  };
}
