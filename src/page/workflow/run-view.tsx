// One run: how far it is, what it needs, what runs, its steps on a line of time, and the items of its map.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { shortId } from "../../base/ids.ts";
import type { ShownRun } from "../../wire/rpc/workflow.ts";
import { Ago, Empty, localised, Section } from "../parts/frame.tsx";
import { hashOf } from "../state/route.ts";
import { uncertainOf } from "../state/waiting.ts";
import { count, shortPath, tookText } from "../words.ts";
import { DeadLetters } from "./dead-letters.tsx";
import { Evidence } from "./evidence.tsx";
import { Items } from "./items.tsx";
import { RunActions } from "./run-actions.tsx";
import { RunWatch } from "./run-watch.ts";
import { RunningSteps } from "./running-steps.tsx";
import { progressText, RunStateWord, shareOf, UncertainStep } from "./runs.tsx";
import { Timeline } from "./timeline.tsx";

/** `at`: the number of the attempt that a link leads to. */
export function RunView({ id, at }: { readonly id: string; readonly at?: string }): JSX.Element {
  const watch = useMemo(() => new RunWatch(id), [id]);
  useEffect(() => watch.start(), [watch]);
  const run = watch.run.value.value;
  const why = watch.run.refusal.value;
  return (
    <div class="view wide run-view">
      <p>
        <a href={hashOf({ view: "workflows" })}>All runs</a>
      </p>
      {run !== undefined && <Run run={run} watch={watch} at={at} />}
      {run === undefined && <Empty>{why === undefined ? "Looking…" : `${why.message} ${why.hint}`}</Empty>}
    </div>
  );
}

type RunProps = { readonly run: ShownRun; readonly watch: RunWatch; readonly at: string | undefined };

function Run({ run, watch, at }: RunProps): JSX.Element {
  const { items, ended } = run;
  return (
    <>
      <Head run={run} />
      {uncertainOf([run]).map(({ need }) => (
        <UncertainStep key={need.attempt} run={run} need={need} />
      ))}
      {at !== undefined && /^\d{1,9}$/.test(at) && <WantedAttempt key={at} run={run} number={at} />}
      <Failure run={run} />
      <RunningSteps run={run} />
      {(ended > 0 || items === null) && (
        <Section title="Steps" many={ended}>
          {ended === 0 ? <Empty>No step has ended yet.</Empty> : <Timeline run={run} watch={watch} />}
        </Section>
      )}
      {items !== null && items.total > 0 && <Items run={run} items={items} watch={watch} />}
      {items !== null && items.failed > 0 && <DeadLetters run={run} failed={items.failed} />}
    </>
  );
}

function Head({ run }: { readonly run: ShownRun }): JSX.Element {
  const { id, name, state, startedAt, endedAt, path, cwd, worktree, resumed, trouble, waitsForSlot = 0 } = run;
  const took = Date.parse(endedAt ?? "") - Date.parse(startedAt);
  const notes = [
    trouble,
    waitsForSlot > 0 ? `${count(waitsForSlot, "step")} waiting for a slot` : undefined,
    worktree === null ? undefined : `in the worktree ${worktree.path}, branch ${worktree.branch}`,
    resumed === null ? undefined : `resumed at ${resumed.at}${resumed.user === "" ? "" : ` by ${resumed.user}`}`,
  ].filter((note) => note !== undefined);
  return (
    <header class="run-head">
      <div class="head">
        <h1>
          {name} <code>{shortId(id)}</code>
        </h1>
        <RunStateWord state={state} />
        <span class="grow" />
        <RunActions run={run} />
      </div>
      <p class="run-progress">
        <progress max={1} value={shareOf(run)} aria-label={`Progress of ${name}`} /> {progressText(run)}
      </p>
      <p class="soft">
        Began <Ago at={startedAt} /> ago{!Number.isNaN(took) && `, took ${tookText(took)}`}, from{" "}
        <code title={path}>{shortPath(path)}</code> in <code title={cwd}>{shortPath(cwd)}</code>.
      </p>
      {notes.map((note) => (
        <p key={note} class="soft">
          {localised(note)}
        </p>
      ))}
    </header>
  );
}

/** Of the output that a search found. */
const LINES = 400;

function WantedAttempt({ run, number }: { readonly run: ShownRun; readonly number: string }): JSX.Element {
  const box = useRef<HTMLElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <article ref={box} class="card step-panel" data-item tabIndex={-1} aria-label={`Attempt ${number}`}>
      <header>
        <strong>Attempt {number}</strong>
        <span class="grow" />
        <a class="button" href={hashOf({ view: "run", id: run.id })}>
          Close
        </a>
      </header>
      <Evidence run={run} attempt={`${run.id}.${number}`} lines={LINES} isLive />
    </article>
  );
}

function Failure({ run }: { readonly run: ShownRun }): JSX.Element | null {
  const { error, name } = run;
  if (error === null) return null;
  return (
    <article class="card bad" data-item tabIndex={-1} aria-label={`Why ${name} failed`}>
      <header>
        <strong>
          It failed{error.step !== "" && " at "}
          {error.step !== "" && <code>{error.step}</code>}
        </strong>
      </header>
      <p class="evidence">{localised(error.message)}</p>
      {error.attempt !== undefined && <Evidence run={run} attempt={error.attempt} step={error.step} />}
    </article>
  );
}
