// The steps of a run that ended, as bars on lines of time with idle stretches shortened, and the step that is chosen.
// TI1. Only the rows in the window are in the document (SR2), so a run with ten thousand steps is drawn as fast as one
//      with twenty.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ListedStep, ShownRun } from "../../wire/rpc/workflow.ts";
import { minutesAhead } from "../browser.ts";
import { localised } from "../parts/frame.tsx";
import { clockTime } from "../recovery/time-line.ts";
import { spanText, tookText } from "../words.ts";
import type { RunWatch } from "./run-watch.ts";
import { StepPanel, TONES } from "./step-panel.tsx";
import {
  blockOf,
  rowCount,
  rowOf,
  rowsIn,
  type StepPages,
  type StepRange,
  stepIn,
  type TimelineRow,
} from "./step-rows.ts";
import { type Scale, scaleOf, spanOf } from "./time-scale.ts";

const ZONE = { minutesAhead };
/** As in workflow.css; in a narrow window a step has two lines. */
const ROW_HEIGHT = { wide: 28, narrow: 46 };
const NARROW = 560;

type TimelineProps = { readonly run: ShownRun; readonly watch: RunWatch };

export function Timeline({ run, watch }: TimelineProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const sight = useSignal({ top: 0, height: 400, rowHeight: ROW_HEIGHT.wide });
  const chosen = useSignal<number | undefined>(undefined);
  const range = { first: watch.first.value, end: run.ended };
  const rows = rowsIn(range, sight.value);
  useEffect(() => watch.shows(rows), [range.first, range.end, sight.value]);
  useLayoutEffect(
    () =>
      followSize(box.current, (height, width) => {
        const rowHeight = width < NARROW ? ROW_HEIGHT.narrow : ROW_HEIGHT.wide;
        sight.value = { ...sight.peek(), height, rowHeight };
      }),
    [],
  );
  const { rowHeight } = sight.value;
  const scales = new Map<number, Scale>();
  return (
    <>
      <div
        ref={box}
        class={`timeline-box ${rowHeight === ROW_HEIGHT.narrow ? "narrow" : ""}`}
        onScroll={(event) => (sight.value = { ...sight.peek(), top: event.currentTarget.scrollTop })}
      >
        <ol class="steps" aria-label="Steps" style={{ height: `${rowCount(range) * rowHeight}px` }}>
          {rows.map((row) => (
            <li key={row.row} class={row.kind} style={{ top: `${row.row * rowHeight}px`, height: `${rowHeight}px` }}>
              {row.kind === "head" ? (
                <BlockHead
                  row={row}
                  scale={scaleFor(scales, watch.pages.value, row)}
                  idle={run.items === null ? "idle" : "between steps"}
                />
              ) : (
                <StepRow
                  number={row.step}
                  record={stepIn(watch.pages.value, row.step)}
                  scale={scaleFor(scales, watch.pages.value, blockOf(range, row.step))}
                  isChosen={chosen.value === row.step}
                  choose={() => (chosen.value = chosen.value === row.step ? undefined : row.step)}
                />
              )}
            </li>
          ))}
        </ol>
      </div>
      {run.ended > 100 && <Jump range={range} box={box} rowHeight={rowHeight} />}
      {chosen.value !== undefined && (
        <StepPanel
          key={chosen.value}
          run={run}
          number={chosen.value}
          record={stepIn(watch.pages.value, chosen.value)}
          close={() => (chosen.value = undefined)}
        />
      )}
    </>
  );
}

/** The scale of a block, made once for each drawing. */
function scaleFor(known: Map<number, Scale>, pages: StepPages, { first, end }: StepRange): Scale {
  const found = known.get(first);
  if (found !== undefined) return found;
  const spans = Array.from({ length: end - first }, (_, at) => stepIn(pages, first + at)).flatMap((record) =>
    record === undefined ? [] : (spanOf(record) ?? []),
  );
  const made = scaleOf(spans);
  known.set(first, made);
  return made;
}

type HeadProps = {
  readonly row: TimelineRow & { readonly kind: "head" };
  readonly scale: Scale;
  /** What the shortened stretches are called: in a map, items are worked on meanwhile. */
  readonly idle: string;
};

function BlockHead({ row, scale, idle }: HeadProps): JSX.Element {
  const { span, breaks } = scale;
  const left = breaks.reduce((sum, { ms }) => sum + ms, 0);
  const times = [span.from, span.to].map((time) => clockTime(ZONE, new Date(time).toISOString()));
  return (
    <>
      <span class="soft which">
        {row.first + 1} to {row.end}
      </span>
      {span.to > 0 && (
        <span class="soft axis">
          <span>{times[0]}</span>
          {left > 0 && (
            <span class="cut">
              {spanText(left)} {idle} left out
            </span>
          )}
          <span>{times[1]}</span>
        </span>
      )}
    </>
  );
}

type RowProps = {
  readonly number: number;
  readonly record: ListedStep | undefined;
  readonly scale: Scale;
  readonly isChosen: boolean;
  readonly choose: () => void;
};

function StepRow({ number, record, scale, isChosen, choose }: RowProps): JSX.Element {
  if (record === undefined) return <span class="soft">…</span>;
  const { step, outcome, tries = 1, iteration, durationMs } = record;
  return (
    <button type="button" class="step-row" data-item aria-expanded={isChosen} onClick={choose}>
      <span class="which">
        <span class={`state ${TONES[outcome]}`} title={outcome} />
        <span class="step-name cut">
          <span class="unseen">{number + 1}: </span>
          {step}
          <span class="unseen"> {outcome}</span>
        </span>
        {tries > 1 && (
          <span class="many">
            <span class="unseen">tried </span>×{tries}
          </span>
        )}
        {iteration !== undefined && <span class="soft round">#{iteration}</span>}
      </span>
      <Bar record={record} scale={scale} />
      <span class="soft took">{tookText(durationMs)}</span>
    </button>
  );
}

function Bar({ record, scale }: { readonly record: ListedStep; readonly scale: Scale }): JSX.Element {
  const span = spanOf(record);
  const percent = (part: number) => `${(part * 100).toFixed(2)}%`;
  return (
    <span class="bar-box" title={record.message === null ? "" : localised(record.message)}>
      {scale.breaks.map(({ at, width }) => (
        <span key={at} class="break" style={{ left: percent(at), width: percent(width) }} />
      ))}
      {span !== undefined && (
        <span
          class={`bar ${record.outcome}`}
          style={{ left: percent(scale.at(span.from)), width: percent(scale.at(span.to) - scale.at(span.from)) }}
        />
      )}
    </span>
  );
}

type JumpProps = {
  readonly range: StepRange;
  readonly box: { readonly current: HTMLDivElement | null };
  readonly rowHeight: number;
};

function Jump({ range, box, rowHeight }: JumpProps): JSX.Element {
  const to = (step: number) => {
    const known = Math.min(range.end - 1, Math.max(range.first, step));
    if (box.current !== null) box.current.scrollTop = (rowOf(range, known) - 1) * rowHeight;
  };
  return (
    <p class="buttons">
      <button type="button" class="button" onClick={() => to(range.first)}>
        First
      </button>
      <button type="button" class="button" onClick={() => to(range.end - 1)}>
        Last
      </button>
      <label class="jump">
        <span class="soft">Step</span>
        <input
          type="number"
          min={range.first + 1}
          max={range.end}
          onChange={(event) => to(Number(event.currentTarget.value) - 1)}
        />
      </label>
    </p>
  );
}

/** Calls `seen` now, and whenever the size changes; returns the function that ends this. */
export function followSize(box: HTMLElement | null, seen: (height: number, width: number) => void): () => void {
  if (box === null) return () => undefined;
  const look = () => seen(box.clientHeight, box.clientWidth);
  const observer = new ResizeObserver(look);
  observer.observe(box);
  look();
  return () => observer.disconnect();
}
