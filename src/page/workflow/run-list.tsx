// Workflows: every run, newest first, a page at a time; archived ones like the others.
// RL1. A page is fetched again when runs have changed. It is never longer, however long the history is.
import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { shortId } from "../../base/ids.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { after } from "../browser.ts";
import { Lead } from "../parts/action.tsx";
import { Ago, Empty } from "../parts/frame.tsx";
import { Feed } from "../state/feed.ts";
import { call, clock, feeds } from "../state/session.ts";
import { tookText } from "../words.ts";
import { EVERYTHING, type RunFilter, type RunPage, runPage, STATES, TIMES } from "./run-filter.ts";
import { progressText, RunName, RunStateWord } from "./runs.tsx";
import { askStart } from "./start-run.tsx";

const filter = signal<RunFilter>(EVERYTHING);
/** Where the pages before this one began, and this one. */
const places = signal<readonly (string | undefined)[]>([undefined]);
const page = new Feed<RunPage>(() => runPage({ call }, filter.peek(), places.peek().at(-1), clock.peek()), after);

/** RL1 */
function follow(): () => void {
  return effect(() => {
    const changes = [feeds.runs.value.value, filter.value, places.value];
    if (changes[0] !== undefined) page.refresh();
  });
}

function choose(change: Partial<RunFilter>): void {
  filter.value = { ...filter.value, ...change };
  places.value = [undefined];
}

export function RunList(): JSX.Element {
  useEffect(follow, []);
  const found = page.value.value;
  const why = page.refusal.value;
  return (
    <div class="view wide">
      <div class="head">
        <h1>Workflows</h1>
        <Lead kind="primary" needs="web.run" to={() => askStart()}>
          Start a workflow…
        </Lead>
      </div>
      <section aria-label="Runs">
        <Filters />
        {found === undefined && <Empty>{why?.message ?? "Looking…"}</Empty>}
        {found?.runs.length === 0 && <Empty>{noneText()}</Empty>}
        <ul class="rows runs">
          {found?.runs.map((run) => (
            <Row key={run.id} run={run} />
          ))}
        </ul>
        <Paging next={found?.next ?? null} />
      </section>
    </div>
  );
}

function noneText(): string {
  const { state, name, time } = filter.value;
  const isChosen = state !== EVERYTHING.state || name !== "" || time !== EVERYTHING.time;
  return isChosen ? "There are no such runs." : "There are no runs yet.";
}

function Filters(): JSX.Element {
  const { state, name, time } = filter.value;
  return (
    <search class="filters">
      <label>
        <span class="soft">Name or id</span>
        <input
          type="search"
          value={name}
          placeholder="begins with…"
          onInput={(event) => choose({ name: event.currentTarget.value })}
        />
      </label>
      <Choice label="State" value={state} options={Object.keys(STATES)} choose={(one) => choose({ state: one })} />
      <Choice label="Began in" value={time} options={Object.keys(TIMES)} choose={(one) => choose({ time: one })} />
    </search>
  );
}

type ChoiceProps = {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly choose: (one: string) => void;
};

function Choice({ label, value, options, choose: chosen }: ChoiceProps): JSX.Element {
  return (
    <label>
      <span class="soft">{label}</span>
      <select value={value} onChange={(event) => chosen(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

function Row({ run }: { readonly run: ListedRun }): JSX.Element {
  const { id, state, error, startedAt, endedAt } = run;
  const took = Date.parse(endedAt ?? "") - Date.parse(startedAt);
  return (
    <li class="row" data-item tabIndex={-1}>
      <RunName run={run} />
      <RunStateWord state={state} />
      <span class="soft grow">{error === null ? progressText(run) : `${error.step}: ${error.message}`}</span>
      <code class="id">{shortId(id)}</code>
      <span class="soft nowrap took">{Number.isNaN(took) ? "" : `took ${tookText(took)}`}</span>
      <span class="soft nowrap">
        <Ago at={startedAt} /> ago
      </span>
    </li>
  );
}

function Paging({ next }: { readonly next: string | null }): JSX.Element | null {
  const before = places.value.slice(0, -1);
  if (next === null && before.length === 0) return null;
  return (
    <p class="buttons paging">
      <button type="button" class="button" disabled={before.length === 0} onClick={() => (places.value = before)}>
        Newer
      </button>
      <button
        type="button"
        class="button"
        disabled={next === null}
        onClick={() => (places.value = [...places.value, next ?? undefined])}
      >
        Older
      </button>
      <span class="soft">Page {places.value.length}</span>
    </p>
  );
}
