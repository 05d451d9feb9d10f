// Why work on a backup was given up: thrown from inside it, and made a refusal by whoever began it.
import { type Refusal, type Result, refused } from "../../base/result.ts";

/** An expected "no" in the middle of the work; whatever was begun is undone. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** The backup is damaged, or was changed. */
export class NotWhole extends Error {
  override readonly name = "NotWhole";
}

/** Runs `work` with the backup at this path. */
export async function orRefused<T>(path: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Stopped) return { ok: false, error: error.refusal };
    if (!(error instanceof NotWhole)) throw error;
    return refused("backup.damaged", `${path} is not whole: ${error.message}.`, HINT);
  }
}

const HINT = "Do not rely on it: use another backup, or make a new one while the home is there.";

/** The value, or the end of the work. */
export function orStopped<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new Stopped(result.error);
}
