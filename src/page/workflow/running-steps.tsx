// What runs now, with its output as it comes, and what waits to be tried again.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { attemptNumber } from "../../core/workflow/run.ts";
import type { ShownAttempt, ShownRetry, ShownRun } from "../../wire/rpc/workflow.ts";
import { Ago, Section } from "../parts/frame.tsx";
import { clock } from "../state/session.ts";
import { count, leftText } from "../words.ts";
import { Evidence } from "./evidence.tsx";

/** More workers are counted: a person follows a few at a time. */
const SHOWN = 8;
/** Of the output of a running step. */
const LINES = 60;

export function RunningSteps({ run }: { readonly run: ShownRun }): JSX.Element | null {
  const { attempts, retries = [] } = run;
  const more = Math.max(0, attempts.length - SHOWN) + Math.max(0, retries.length - SHOWN);
  if (attempts.length + retries.length === 0) return null;
  return (
    <Section title="Running now" many={attempts.length}>
      {attempts.slice(0, SHOWN).map((attempt) => (
        <Running key={attempt.attempt} run={run} attempt={attempt} isOpen={attempts.length === 1} />
      ))}
      <ul class="rows">
        {retries.slice(0, SHOWN).map((retry) => (
          <Waiting key={`${retry.step} ${retry.item}`} retry={retry} />
        ))}
      </ul>
      {more > 0 && <p class="soft">and {count(more, "more step")}</p>}
    </Section>
  );
}

function placeText(step: string, item: number | null): string {
  return item === null ? step : `${step} of item ${item}`;
}

type RunningProps = { readonly run: ShownRun; readonly attempt: ShownAttempt; readonly isOpen: boolean };

function Running({ run, attempt, isOpen }: RunningProps): JSX.Element {
  const { attempt: id, step, item, startedAt, agent, said, try: time = 1 } = attempt;
  const open = useSignal(isOpen);
  return (
    <article class="card" data-item tabIndex={-1} aria-label={`Running: ${placeText(step, item)}`}>
      <header>
        <strong>
          <code>{step}</code>
        </strong>
        {item !== null && <span class="soft">item {item}</span>}
        <span class="soft">
          attempt {attemptNumber(id)}
          {time > 1 && `, try ${time}`}
        </span>
        <span class="grow" />
        <span class="soft">
          for <Ago at={startedAt} />
        </span>
      </header>
      {agent !== null && <p class="soft">An agent works on it{said === null || said === "" ? "." : `: ${said}`}</p>}
      {agent === null && (
        <details open={open.value} onToggle={(event) => (open.value = event.currentTarget.open)}>
          <summary>Output</summary>
          {open.value && (
            <Evidence run={run} attempt={id} step={step} {...(item !== null && { item })} isLive lines={LINES} />
          )}
        </details>
      )}
    </article>
  );
}

function Waiting({ retry: { step, item, tries, at } }: { readonly retry: ShownRetry }): JSX.Element {
  return (
    <li class="row" data-item tabIndex={-1}>
      <code>{placeText(step, item)}</code>
      <span class="soft grow">
        failed {count(tries, "time")}, is tried again: {leftText(at, clock.value)}
      </span>
    </li>
  );
}
