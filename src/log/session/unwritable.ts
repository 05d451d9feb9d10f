// An entry that JSON cannot express, or that is nested too deeply to be written. `append` of event-log.ts throws it,
// and then has changed nothing.
export class Unwritable extends Error {
  constructor(cause: unknown) {
    super(`it cannot be written to the log: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}
