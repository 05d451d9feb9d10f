// Claims about the reports of a holder to a daemon that may not be connected.
import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { ChangeReport } from "./change-report.ts";

test("CH1 a change that stays is reported once, one that does not is not", () => {
  const clock = new SimClock();
  let [now, reports] = ["0", 0];
  const report = new ChangeReport(
    clock,
    () => now,
    () => (reports += 1),
  );
  const change = (to: string) => {
    now = to;
    report.look();
  };
  change("1");
  change("0");
  clock.advance(1_000);
  expect(reports).toBe(0);
  change("1");
  change("2");
  clock.advance(1_000);
  report.look();
  clock.advance(1_000);
  expect(reports).toBe(1);
  change("0");
  clock.advance(1_000);
  expect(reports).toBe(2);
});
