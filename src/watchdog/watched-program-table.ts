// The states of one watched program as the watchdog sees it.
import { machine } from "../base/machine.ts";

export const partMachine = machine({
  name: "Watched program",
  initial: "waiting",
  table: {
    /** To be started: now, or after a pause. */
    waiting: { start: "running", adopt: "running", block: "blocked", fail: "waiting", stop: "stopped" },
    /** Its lock is held by an unknown process. */
    blocked: { adopt: "running", free: "waiting", stop: "stopped" },
    running: { end: "waiting", stop: "stopping", leave: "stopped" },
    /** The operator wants it down; it was asked to end. */
    stopping: { end: "stopped", leave: "stopped" },
    stopped: {},
  },
});

export type PartState = (typeof partMachine.states)[number];
export type PartEvent = (typeof partMachine.events)[number];
