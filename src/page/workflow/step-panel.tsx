// The step that was chosen on the timeline: how it ended, and the evidence of each of its attempts.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { attemptNumber } from "../../core/workflow/run.ts";
import type { ListedStep, ShownRun } from "../../wire/rpc/workflow.ts";
import { localised, State, type Tone } from "../parts/frame.tsx";
import { Evidence } from "./evidence.tsx";

export const TONES: Readonly<Record<ListedStep["outcome"], Tone>> = {
  ...{ succeeded: "good", failed: "bad", ignored: "warn", skipped: "soft", kept: "soft" },
};

/** What each outcome means, beyond its word. */
const MEANINGS: Readonly<Partial<Record<ListedStep["outcome"], string>>> = {
  ignored: "It failed, and the file says to continue.",
  skipped: "Its condition was false.",
  kept: "It was done before the file changed, and is the same since.",
};

/** Of the output of a step. */
const LINES = 200;

type PanelProps = {
  readonly run: ShownRun;
  readonly number: number;
  readonly record: ListedStep | undefined;
  readonly close: () => void;
};

export function StepPanel({ run, number, record, close }: PanelProps): JSX.Element | null {
  if (record === undefined) return null;
  const { step, outcome, message, iteration, attempt } = record;
  return (
    <article class="card step-panel" aria-label={`Step ${number + 1}: ${step}`}>
      <header>
        <strong>
          {number + 1}. <code>{step}</code>
        </strong>
        <State word={outcome} tone={TONES[outcome]} />
        {iteration !== undefined && <span class="soft">iteration {iteration}</span>}
        <span class="grow" />
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </header>
      {MEANINGS[outcome] !== undefined && <p class="soft">{MEANINGS[outcome]}</p>}
      {message !== null && <p class="evidence">{localised(message)}</p>}
      {attempt === undefined ? (
        <p class="soft">It has run no program of its own, or an older version has not recorded which.</p>
      ) : (
        <Attempts run={run} record={record} last={attempt} />
      )}
    </article>
  );
}

type AttemptsProps = { readonly run: ShownRun; readonly record: ListedStep; readonly last: string };

/** The tries of a step have numbers in a row: nothing else runs beside them outside of a map. */
function Attempts({ run, record: { step, tries = 1 }, last }: AttemptsProps): JSX.Element {
  const chosen = useSignal(last);
  const number = attemptNumber(last);
  const all = Array.from({ length: Math.min(tries, number) }, (_, at) => `${run.id}.${number - tries + 1 + at}`);
  return (
    <>
      {tries > 1 && (
        <p class="buttons">
          <span class="soft">Tried {tries} times:</span>
          {all.map((one, at) => (
            <button
              key={one}
              type="button"
              class="button"
              aria-pressed={chosen.value === one}
              onClick={() => (chosen.value = one)}
            >
              Try {at + 1}
            </button>
          ))}
        </p>
      )}
      <Evidence key={chosen.value} run={run} attempt={chosen.value} step={step} lines={LINES} />
    </>
  );
}
