// The oracle of a disturbed run: what was done twice.
import type { LivedRun } from "../sim/holdfast/script.ts";

/** Marks left a second time without consent: an attempt that acted is the last, or consent followed it. */
export function unagreed({ marks, consents }: Pick<LivedRun, "marks" | "consents">): string[] {
  const again = marks.filter(
    ({ mark, attempt }, at) => !consents.includes(attempt) && marks.slice(at + 1).some((later) => later.mark === mark),
  );
  return again.map(({ mark }) => mark);
}
