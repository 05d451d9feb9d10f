// The mutants in src/base (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const BASE: readonly Mutant[] = [
  {
    mutant: "what changed while a list was fetched is not fetched again",
    file: "src/base/refresher.ts",
    from: "      if (isWanted) void this.#run(); // RE1\n",
    to: "",
    killedBy: {
      file: "src/page/state/feed.test.ts",
      test: "FE1 FE2 many wishes during a fetch and its pause become one more fetch",
    },
  },
  {
    mutant: "jitter lengthens a wait",
    file: "src/base/backoff.ts",
    from: "full * (1 - policy.jitter * chance)",
    to: "full * (1 + policy.jitter * chance)",
    killedBy: {
      file: "src/base/backoff.test.ts",
      test: "jitter shortens a wait by up to 20 % and never lengthens it: 60 s stays the maximum",
    },
  },
  {
    mutant: "an outcome from before the breaker opened counts for its probe",
    file: "src/base/breaker.ts",
    from: `    if (pass.period !== this.#period) return; // C3
    this.#failures += 1;`,
    to: "    this.#failures += 1;",
    killedBy: {
      file: "src/base/breaker.test.ts",
      test: "C3 the outcome of a call from before it opened does not count for the probe",
    },
  },
  {
    mutant: "times from before the clock was set back count for ever",
    file: "src/base/budget.ts",
    from: "Math.abs(now - time) <= budget.windowMs",
    to: "now - time <= budget.windowMs",
    killedBy: {
      file: "src/base/budget.test.ts",
      test: "B2 times from before the clock was set back do not count for ever",
    },
  },
  {
    mutant: "a crash loop may have one crash more",
    file: "src/base/budget.ts",
    from: "within(budget, now).length >= budget.limit",
    to: "within(budget, now).length > budget.limit",
    killedBy: {
      file: "src/base/budget.test.ts",
      test: "SM-1(a) 3 in 60 s exhaust it, even if the first and last are exactly 60 s apart",
    },
  },
  {
    mutant: "an ambiguous prefix of an id means the first match",
    file: "src/base/ids.ts",
    from: "others.length === 0 ? ok(only) : ambiguous(key, found)",
    to: "others.length >= 0 ? ok(only) : ambiguous(key, found)",
    killedBy: {
      file: "src/base/ids.test.ts",
      test: "matchOne > I2 an ambiguous prefix is refused with some of the candidates",
    },
  },
  {
    mutant: "text of several lines may contain bidi controls",
    file: "src/base/visible.ts",
    from: "/[^\\P{Cc}\\n]|[\\p{Bidi_Control}\\u2028\\u2029]/gu",
    to: "/[^\\P{Cc}\\n]/gu",
    killedBy: {
      file: "src/cli/print.test.ts",
      test: "control characters > every C0, DEL, C1 and bidi control is escaped; only a newline may stay",
    },
  },
  {
    mutant: "JSON of another program may be of any depth",
    file: "src/base/json.ts",
    from: "depth > MAX_DEPTH || values >= most",
    to: "values >= most",
    killedBy: {
      file: "tests/sim/fuzz/hostile/borders.fuzz.test.ts",
      test: 'a message over MCP: {"id":DEEP,"method":"ping"}',
    },
  },
  {
    mutant: "a private address counts as public",
    file: "src/base/address.ts",
    from: '"169.254.0.0/16", ',
    to: "",
    killedBy: {
      file: "src/base/address.test.ts",
      test: "AD1 loopback, private, link-local and embedded addresses are not public",
    },
  },
];
