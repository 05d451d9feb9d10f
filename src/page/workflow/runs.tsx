// Runs of workflows in Now: attempts whose outcome is unknown, failed runs, those that go on, those that ended.
import type { JSX } from "preact";
import { shortId } from "../../base/ids.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { Action } from "../parts/action.tsx";
import { Ago, localised, State, type Tone } from "../parts/frame.tsx";
import { hashOf } from "../state/route.ts";
import { call, refresh } from "../state/session.ts";
import type { Uncertain } from "../state/waiting.ts";
import { count, sentence, shortPath } from "../words.ts";
import { Evidence } from "./evidence.tsx";

const TONES: Readonly<Record<ListedRun["state"], Tone>> = {
  ...{ queued: "soft", running: "good", waiting: "warn", uncertain: "bad", failed: "bad" },
  ...{ interrupted: "soft", cancelled: "soft", done: "good", done_with_failures: "warn" },
};

const WORDS: Readonly<Record<string, string>> = { done_with_failures: "done, with failures" };

export function RunStateWord({ state }: Pick<ListedRun, "state">): JSX.Element {
  return <State word={WORDS[state] ?? state} tone={TONES[state]} />;
}

/** Its name, which leads to all of it. */
export function RunName({ run }: { readonly run: ListedRun }): JSX.Element {
  return (
    <a class="run-name" href={hashOf({ view: "run", id: run.id })}>
      <strong>{run.name}</strong>
    </a>
  );
}

const refreshed = () => refresh("runs");

const VERDICTS = [
  { verdict: "rerun", words: "Run it again", success: "It runs again." },
  { verdict: "done", words: "It was done", success: "It counts as done; the run goes on." },
  { verdict: "failed", words: "It failed", success: "It counts as failed." },
] as const;

export function UncertainStep({ run, need }: Uncertain): JSX.Element {
  return (
    <article class="card bad" data-item tabIndex={-1} aria-label={`Unknown outcome of ${need.step} of ${run.name}`}>
      <header>
        <strong>
          {run.name}: how did <code>{need.step}</code> end?
        </strong>
        <RunPlace run={run} />
      </header>
      <p>{localised(sentence(need.why))} It is not run again by itself: it may have had its effect.</p>
      <Evidence run={run} attempt={need.attempt} step={need.step} />
      <p class="buttons">
        {VERDICTS.map(({ verdict, words, success }) => (
          <Action
            key={verdict}
            needs="workflow.resolve"
            run={() => call("workflow.resolve", { id: run.id, attempt: need.attempt, verdict })}
            success={success}
            done={refreshed}
          >
            {words}
          </Action>
        ))}
      </p>
    </article>
  );
}

export function FailedRun({ run }: { readonly run: ListedRun }): JSX.Element {
  const { id, name, error } = run;
  return (
    <article class="card bad" data-item tabIndex={-1} aria-label={`Run ${name} failed`}>
      <header>
        <strong>
          {name} failed
          {error !== null && (
            <>
              {" "}
              at <code>{error.step}</code>
            </>
          )}
        </strong>
        <RunPlace run={run} />
      </header>
      {error !== null && <p class="evidence">{localised(error.message)}</p>}
      {error?.attempt !== undefined && <Evidence run={run} attempt={error.attempt} step={error.step} />}
      <p class="buttons">
        <Action
          kind="primary"
          needs="workflow.resume"
          run={() => call("workflow.resume", { id, force: false })}
          success={`${name} goes on where it failed.`}
          done={refreshed}
        >
          Resume
        </Action>
        <Action
          needs="workflow.cancel"
          run={() => call("workflow.cancel", { id })}
          success={`${name} is given up.`}
          done={refreshed}
        >
          Give up
        </Action>
      </p>
    </article>
  );
}

function RunPlace({ run }: { readonly run: ListedRun }): JSX.Element {
  return (
    <>
      <span class="soft" title={run.cwd}>
        <a href={hashOf({ view: "run", id: run.id })}>{shortId(run.id)}</a> in {shortPath(run.cwd)}
      </span>
      <span class="grow" />
      <span class="soft">
        began <Ago at={run.startedAt} /> ago
      </span>
    </>
  );
}

export function shareOf({ items, step, steps, state }: ListedRun): number {
  if (items !== null && items.total > 0) return (items.succeeded + items.failed) / items.total;
  return steps === 0 ? 0 : (step - (state === "running" ? 1 : 0)) / steps;
}

export function progressText({ items, step, steps, at, iteration }: ListedRun): string {
  const failed = items !== null && items.failed > 0 ? `, ${items.failed} failed` : "";
  if (items !== null && items.total > 0)
    return `${items.succeeded} of ${items.total}${items.complete ? "" : "+"} items${failed}`;
  const turn = iteration > 1 ? `iteration ${iteration}, ` : "";
  return `${turn}step ${step} of ${steps}${at === null ? "" : `: ${at}`}`;
}

export function RunRow({ run }: { readonly run: ListedRun }): JSX.Element {
  const { id, name, state, trouble, waitsForSlot = 0 } = run;
  const more = [trouble, waitsForSlot > 0 ? `${count(waitsForSlot, "step")} waiting for a slot` : undefined];
  return (
    <li class="row" data-item tabIndex={-1}>
      <span class="kind">run</span>
      <RunName run={run} />
      <RunStateWord state={state} />
      <progress max={1} value={shareOf(run)} aria-label={`Progress of ${name}`} />
      <span class="soft grow">{[progressText(run), ...more].filter((text) => text !== undefined).join(" · ")}</span>
      <Action
        label={`Interrupt ${name}`}
        needs="workflow.interrupt"
        run={() => call("workflow.interrupt", { id })}
        success={`${name} is interrupted; it can be resumed.`}
        done={refreshed}
      >
        Interrupt
      </Action>
      <Ago at={run.startedAt} />
    </li>
  );
}

export function EndedRun({ run }: { readonly run: ListedRun }): JSX.Element {
  const { id, name, state } = run;
  return (
    <li class="row" data-item tabIndex={-1}>
      <span class="kind">run</span>
      <RunName run={run} />
      <RunStateWord state={state} />
      <span class="soft grow">
        {run.error === null ? progressText(run) : `${run.error.step}: ${run.error.message}`}
      </span>
      {state === "interrupted" && (
        <Action
          label={`Resume ${name}`}
          needs="workflow.resume"
          run={() => call("workflow.resume", { id, force: false })}
          success={`${name} goes on.`}
          done={refreshed}
        >
          Resume
        </Action>
      )}
      <Ago at={run.startedAt} />
    </li>
  );
}
