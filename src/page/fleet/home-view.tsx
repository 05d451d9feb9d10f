// What a home on another host shows of itself: read-only, and as old as it says.
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { own } from "../../base/own.ts";
import { plainLine } from "../../base/visible.ts";
import type { FleetHome, WebFleetHome } from "../../wire/page/messages.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { Empty, Section, State, type Tone } from "../parts/frame.tsx";
import { pageOf } from "../state/fleet.ts";
import { hashOf } from "../state/route.ts";
import { clock } from "../state/session.ts";
import { programText, shortPath } from "../words.ts";
import { FarPrompt } from "./far-prompt.tsx";
import { followHome, homeFeed } from "./fleet-feed.ts";
import { ageText, nameOf, stateOf } from "./words.ts";

export function HomeView({ id }: { readonly id: string }): JSX.Element {
  const feed = useMemo(() => homeFeed(id), [id]);
  useEffect(() => followHome(feed), [feed]);
  const home = feed.value.value;
  const refusal = feed.refusal.value;
  return (
    <div class="view">
      <div class="head">
        <h1>{home === undefined ? "Home" : nameOf(home)}</h1>
        <a class="button" href={hashOf({ view: "homes" })}>
          All homes
        </a>
      </div>
      {home === undefined && <Empty>{refusal === undefined ? "Looking…" : refusal.message}</Empty>}
      {home !== undefined && refusal !== undefined && <p class="note warn">{refusal.message}</p>}
      {home !== undefined && <Known home={home} />}
    </div>
  );
}

function Known({ home }: { readonly home: WebFleetHome }): JSX.Element {
  const { listing } = home;
  const isDoubtful = home.isOld || !home.isLive;
  return (
    <>
      <section aria-label="Where it is" class="where">
        <p class="row">
          <span class="grow">
            On <strong>{plainLine(home.host)}</strong>
          </span>
          <State {...stateOf(home)} />
        </p>
        <p class={isDoubtful ? "note warn" : "soft"} role="status">
          {ageText(home, clock.value)}
        </p>
        <Way home={home} />
      </section>
      {listing !== null && <Lists home={home} listing={listing} />}
    </>
  );
}

function Way({ home }: { readonly home: FleetHome }): JSX.Element {
  const page = pageOf(home);
  if (page === undefined)
    return (
      <p class="soft">
        This browser finds no page of it. <code>holdfast open</code> on its host opens one; <code>[fleet] page</code> in
        the configuration there tells where others find it. In a shell, <code>holdfast attach {nameOf(home)}/NAME</code>{" "}
        opens one of its terminals.
      </p>
    );
  return (
    <p class="buttons">
      <a class="button primary" href={page} rel="noreferrer">
        Go to its page
      </a>
      <span class="soft path">{page}</span>
    </p>
  );
}

type ListsProps = { readonly home: FleetHome; readonly listing: NonNullable<WebFleetHome["listing"]> };

function Lists({ home, listing }: ListsProps): JSX.Element {
  const { terminals, agents, runs, prompts, more } = listing;
  return (
    <>
      <Section title="Waits for somebody" many={prompts.length + more.prompts}>
        {prompts.length === 0 && <Empty>No prompt is open there.</Empty>}
        {prompts.map((prompt) => (
          <FarPrompt key={prompt.id} home={home} prompt={prompt} />
        ))}
        <More many={more.prompts} />
      </Section>
      <Rows title="Terminals" rows={terminals} more={more.terminals} row={terminalRow} />
      <Rows title="Agents" rows={agents} more={more.agents} row={agentRow} />
      <Rows title="Runs" rows={runs} more={more.runs} row={runRow} />
    </>
  );
}

type Cells = { readonly name: string; readonly word: string; readonly more: string };
type RowsProps<T> = {
  readonly title: string;
  readonly rows: readonly T[];
  readonly more: number;
  readonly row: (one: T) => Cells;
};

const TONES: Readonly<Record<string, Tone>> = {
  ...{ running: "good", working: "good", starting: "warn", waiting: "warn", uncertain: "warn", queued: "warn" },
  ...{ failed: "bad", crashed: "bad", interrupted: "bad" },
};
/** What goes on or waits comes first, and of that the newest: the lists of a home begin with the oldest. */
const LAST: readonly string[] = ["ended", "done", "done_with_failures", "terminated", "cancelled"];

function Rows<T extends { readonly id: string }>({ title, rows, more, row }: RowsProps<T>): JSX.Element {
  return (
    <Section title={title} many={rows.length + more}>
      {rows.length === 0 && <Empty>None.</Empty>}
      <ul class="rows">
        {inOrder(rows.map((one) => ({ id: one.id, ...row(one) }))).map(({ id, name, word, more: rest }) => (
          <li key={id} class="row" data-item tabIndex={-1}>
            <strong>{plainLine(name)}</strong>
            <State word={plainLine(word)} tone={own(TONES, word) ?? "soft"} />
            <span class="soft grow">{plainLine(rest)}</span>
          </li>
        ))}
      </ul>
      <More many={more} />
    </Section>
  );
}

function inOrder<T extends Cells>(cells: readonly T[]): readonly T[] {
  const isLast = ({ word }: Cells) => Number(LAST.includes(word));
  return cells.toReversed().toSorted((a, b) => isLast(a) - isLast(b));
}

function More({ many }: { readonly many: number }): JSX.Element | null {
  return many > 0 ? <p class="soft">{many} more are not in what it shows.</p> : null;
}

function terminalRow({ name, state, recipe }: BriefTerminal): Cells {
  const more = `${programText(recipe.argv)} · ${shortPath(recipe.cwd, 40)}`;
  return { name, word: state.kind, more };
}

function agentRow({ name, state, provider, note }: ListedAgent): Cells {
  return { name, word: state, more: note ?? provider };
}

function runRow({ name, state, step, steps, error }: ListedRun): Cells {
  const more = error == null ? `step ${step} of ${steps}` : `${error.step}: ${error.message}`;
  return { name, word: state, more };
}
