// The life of one watched program as the watchdog sees it.
import { machine } from "../base/machine.ts";

export const partMachine = machine({
  name: "Watched program",
  initial: "waiting",
  table: {
    /** To be started: now, or when its pause is over. */
    waiting: { start: "running", adopt: "running", block: "blocked", fail: "waiting", stop: "stopped" },
    /** Somebody holds its lock, and we do not know who. */
    blocked: { adopt: "running", free: "waiting", stop: "stopped" },
    running: { end: "waiting", stop: "stopping", leave: "stopped" },
    /** The operator wants it down; it was asked to end. */
    stopping: { end: "stopped", leave: "stopped" },
    stopped: {},
  },
});

export type PartState = (typeof partMachine.states)[number];
export type PartEvent = (typeof partMachine.events)[number];
