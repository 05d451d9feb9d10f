// Work that many pages may ask for, done once in a while.
import type { Clock } from "../world/clock.ts";

/** Those who ask within `ms` of its start, or while it goes on, share the answer. A failure is not kept. */
export function once<T>(clock: Clock, ms: number, work: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T>; isOver: boolean } | undefined;
  return () => {
    if (last !== undefined && (!last.isOver || clock.elapsed() - last.at < ms)) return last.answer;
    const mine = { at: clock.elapsed(), answer: work(), isOver: false };
    last = mine;
    const over = (isKept: boolean) => {
      mine.isOver = true;
      if (!isKept && last === mine) last = undefined;
    };
    mine.answer.then(
      () => over(true),
      () => over(false),
    );
    return mine.answer;
  };
}
