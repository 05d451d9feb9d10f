// The totals that a drill prints.
import { describe, expect, test } from "bun:test";
import { Dice } from "./dice.ts";
import type { Kill } from "./kills.ts";
import { killText, liveMsOf } from "./report.ts";

function kill(backMs: number | undefined, more: Partial<Kill> = {}): Kill {
  return { what: "daemon", pids: [7], atMs: 1200, recovering: false, backMs, ...more };
}

describe("drill: report", () => {
  test("median, p95 and max count only live daemons that were killed", () => {
    const measured = Array.from({ length: 100 }, (_, at) => kill(100 - at));
    const others = [
      kill(undefined),
      kill(5000, { what: "watchdog" }),
      kill(5000, { what: "web" }),
      kill(5000, { recovering: true }),
    ];
    expect(liveMsOf([...measured, ...others])).toEqual({ median: 50, p95: 95, max: 100 });
    expect(liveMsOf([...measured, ...others], true)).toEqual({ median: 5000, p95: 5000, max: 5000 });
    expect(liveMsOf([])).toEqual({ median: 0, p95: 0, max: 0 });
  });

  test("a line for each kill says what, when and the result", () => {
    expect(killText(kill(210.4))).toMatch(/^ +1\.2 s {2}daemon 7 +live again after 210 ms$/);
    expect(killText(kill(undefined, { recovering: true }))).toMatch(/daemon 7, during recovery +not waited for$/);
    expect(killText(kill(90, { what: "both", pids: [7, 8] }))).toContain("watchdog and daemon 7 and 8");
  });

  test("a seed gives the same dice again, and every actor its own dice", () => {
    const thrown = (dice: Dice) => Array.from({ length: 20 }, () => dice.between(1, 1_000_000));
    expect(thrown(new Dice(7))).toEqual(thrown(new Dice(7)));
    expect(thrown(new Dice(7))).not.toEqual(thrown(new Dice(8)));
    expect(thrown(new Dice(7).another())).not.toEqual(thrown(new Dice(7)));
  });
});
