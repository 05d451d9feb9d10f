import { describe, expect, test } from "bun:test";
import { cells, unreachable } from "../base/machine.ts";
import { isWorking, type RecoveryStage, recoveryMachine, retriedStage, STAGES } from "./recovery.ts";

const WAY: readonly RecoveryStage[] = ["CRASHED", "DETECTING", "INVENTORYING", "RESTORING", "RECONCILING", "LIVE"];

describe("the stages of a recovery", () => {
  const legal = cells(recoveryMachine).flatMap(({ state, next }) => (next === undefined ? [] : [`${state} ${next}`]));

  test("RS-1(a,b) every cell: these transitions are legal, and no others", () => {
    expect(legal.sort()).toEqual(
      [
        "CRASHED DETECTING",
        "DETECTING INVENTORYING",
        "INVENTORYING RESTORING",
        "RESTORING RECONCILING",
        "RECONCILING LIVE",
        "LIVE CRASHED",
        "DETECTING DETECTION_FAILED",
        "INVENTORYING INVENTORY_FAILED",
        "RESTORING RESTORATION_FAILED",
        "RECONCILING RECONCILIATION_FAILED",
        "DETECTION_FAILED DETECTING",
        "INVENTORY_FAILED INVENTORYING",
        "RESTORATION_FAILED RESTORING",
        "RECONCILIATION_FAILED RECONCILING",
      ].sort(),
    );
    expect(cells(recoveryMachine).length).toBe(100);
    expect(unreachable(recoveryMachine)).toEqual([]);
  });

  test("RS-1(c) a request for a stage reaches it or is refused: a cell never leads elsewhere", () => {
    for (const { event, next } of cells(recoveryMachine)) expect([undefined, event]).toContain(next);
  });

  test("RS-1(c) no path skips a stage: without one of them LIVE cannot be reached", () => {
    for (const left of WAY.slice(1, -1)) {
      const reached = new Set<RecoveryStage>(["CRASHED"]);
      for (const stage of reached) {
        for (const { state, next } of cells(recoveryMachine)) {
          if (state === stage && next !== undefined && next !== left) reached.add(next);
        }
      }
      expect(reached.has("LIVE")).toBe(false);
    }
  });

  test("RS-2(b) an illegal transition is refused with both stages and what would be legal", () => {
    const refused = recoveryMachine.next("DETECTING", "LIVE");
    expect(refused.ok).toBe(false);
    if (refused.ok) return;
    expect(refused.error.message).toContain("DETECTING");
    expect(refused.error.message).toContain("LIVE");
    expect(refused.error.hint).toContain("INVENTORYING");
    expect(refused.error.hint).toContain("DETECTION_FAILED");
  });

  test("RS-5(a) each working stage has its own failure, which leads back only to that stage", () => {
    for (const stage of recoveryMachine.states.filter(isWorking)) {
      const { failed, next } = STAGES[stage];
      expect(recoveryMachine.next(stage, failed).ok && recoveryMachine.next(stage, next).ok).toBe(true);
      expect(retriedStage(failed)).toBe(stage);
      expect(Object.keys(recoveryMachine.table[failed])).toEqual([stage]);
    }
    expect(recoveryMachine.states.filter(isWorking)).toEqual(["DETECTING", "INVENTORYING", "RESTORING", "RECONCILING"]);
    for (const stage of WAY) expect(retriedStage(stage)).toBeUndefined();
  });
});
