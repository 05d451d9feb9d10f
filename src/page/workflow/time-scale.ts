// Time on a line on which idle stretches are short: a run that waited a night for a person still shows its steps.
// TS1. What lasted keeps its proportions. An idle stretch is at most a small part of what is busy in all.
// TS2. The scale is made for some spans, and is only asked about times within them.
import type { ListedStep } from "../../wire/rpc/workflow.ts";

/** In milliseconds since 1970. */
export type Span = { readonly from: number; readonly to: number };

/** An idle stretch that was shortened; `at` and `width` are parts of the whole line. */
export type Break = { readonly at: number; readonly width: number; readonly ms: number };

export type Scale = { readonly span: Span; readonly breaks: readonly Break[]; at(time: number): number };

/** TS1. Wide enough to be seen, and to hold the mark of a break. */
const IDLE_PART = 0.04;
/** A shorter stretch may be short, too, but is nothing to be told about. */
const TOLD_MS = 1_000;

/** When a step was worked on; undefined if it is not known, as of older versions. */
export function spanOf({ at, durationMs }: ListedStep): Span | undefined {
  const to = Date.parse(at ?? "");
  return Number.isNaN(to) ? undefined : { from: to - durationMs, to };
}

export function scaleOf(spans: readonly Span[]): Scale {
  const busy = busyOf(spans);
  const most = Math.max(1, busy.reduce((sum, { from, to }) => sum + to - from, 0) * IDLE_PART);
  const marks: { readonly time: number; readonly at: number }[] = [];
  const gaps: { readonly at: number; readonly width: number; readonly ms: number }[] = [];
  let end = 0;
  for (const [index, { from, to }] of busy.entries()) {
    const idle = index === 0 ? 0 : from - (busy[index - 1]?.to ?? from);
    const width = Math.min(idle, most); // TS1
    if (idle > most && idle >= TOLD_MS) gaps.push({ at: end, width, ms: idle });
    end += width;
    marks.push({ time: from, at: end });
    end += to - from;
    marks.push({ time: to, at: end });
  }
  const whole = Math.max(1, end);
  const span = { from: busy[0]?.from ?? 0, to: busy.at(-1)?.to ?? 0 };
  const breaks = gaps.map(({ at, width, ms }) => ({ at: at / whole, width: width / whole, ms }));
  return { span, breaks, at: (time) => placeOf(marks, time) / whole };
}

/** The stretches in which something was worked on, in order. */
function busyOf(spans: readonly Span[]): Span[] {
  const found: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last === undefined || span.from > last.to) found.push(span);
    else found.splice(-1, 1, { from: last.from, to: Math.max(last.to, span.to) });
  }
  return found;
}

function placeOf(marks: readonly { readonly time: number; readonly at: number }[], time: number): number {
  const next = marks.findIndex((mark) => mark.time >= time);
  const [before, after] = [marks[next - 1], marks[next]];
  if (after === undefined) return marks.at(-1)?.at ?? 0;
  if (before === undefined || after.time === before.time) return after.at;
  return before.at + ((after.at - before.at) * (time - before.time)) / (after.time - before.time);
}
