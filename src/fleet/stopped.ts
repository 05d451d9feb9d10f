// What ends a piece of work, from wherever in it that happens. It is caught once, where the work began.
import type { Refusal, Result } from "../base/result.ts";

export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export function orStopped<T>(answer: Result<T>): T {
  if (!answer.ok) throw new Stopped(answer.error);
  return answer.value;
}
