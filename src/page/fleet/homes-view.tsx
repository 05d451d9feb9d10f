// The homes of the fleet: where this page is, and the way to each of the others.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { plainLine } from "../../base/visible.ts";
import type { FleetHome } from "../../wire/page/messages.ts";
import { Ago, Empty, State } from "../parts/frame.tsx";
import { follows, homes, membership, pageOf } from "../state/fleet.ts";
import { may } from "../state/rights.ts";
import { hashOf } from "../state/route.ts";
import { count } from "../words.ts";
import { followHomes } from "./fleet-feed.ts";
import { countsText, matchesHome, nameOf, sorted, stateOf } from "./words.ts";

/** So few are seen at a glance. */
const FEW = 8;
/** More than a person looks through; the words find the others. */
const SHOWN = 200;

export function HomesView(): JSX.Element {
  useEffect(followHomes, []);
  const words = useSignal("");
  const found = homes.value.value;
  const refusal = homes.refusal.value;
  const all = sorted(found?.homes ?? []);
  const fitting = all.filter((home) => matchesHome(home, words.value));
  return (
    <div class="view">
      <h1>Homes</h1>
      <p class="soft">
        The homes of this fleet, on all of its hosts. This page is on {plainLine(membership.value?.host ?? "this host")}
        .
      </p>
      {refusal !== undefined && (
        <p class="note warn" role="status">
          {refusal.message} {found !== undefined && found !== null && "What you see is from before."}
        </p>
      )}
      {found === undefined && refusal === undefined && <Empty>Looking…</Empty>}
      {found === null && <Empty>This host is in no fleet.</Empty>}
      {all.length > FEW && (
        <input
          type="search"
          aria-label="Find a home"
          placeholder="Find a home by its name or host"
          value={words.value}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
      )}
      <ul class="rows homes" aria-label="Homes">
        {fitting.slice(0, SHOWN).map((home) => (
          <Row key={home.id} home={home} />
        ))}
      </ul>
      {fitting.length > SHOWN && <p class="soft">{count(fitting.length - SHOWN, "more home")}: type a name.</p>}
      {all.length > 0 && fitting.length === 0 && <Empty>No home is called like that.</Empty>}
    </div>
  );
}

function Row({ home }: { readonly home: FleetHome }): JSX.Element {
  const { counts, host, seenAt } = home;
  const isHere = home.isHere && !follows.value;
  const prompts = counts?.prompts ?? 0;
  return (
    <li class="row" {...(isHere && { "aria-current": "location" as const })}>
      <strong>
        <Way home={home} />
      </strong>
      <span class="soft nowrap">on {plainLine(host)}</span>
      <State {...stateOf(home)} />
      <span class="soft grow">{countsText(home)}</span>
      {prompts > 0 && <State word={`${count(prompts, "prompt")} open`} tone="warn" />}
      {isHere && <span class="soft nowrap">you are here</span>}
      <span class="soft nowrap" title="When its host was last heard of">
        seen <Ago at={seenAt} /> ago
      </span>
    </li>
  );
}

/** To its page if this browser can reach one, otherwise to what it shows of itself. */
function Way({ home }: { readonly home: FleetHome }): JSX.Element {
  const name = nameOf(home);
  const page = pageOf(home);
  if (home.isHere && !follows.value)
    return (
      <a data-item href={hashOf({ view: "now" })}>
        {name}
      </a>
    );
  if (page !== undefined)
    return (
      <a data-item href={page} rel="noreferrer" title={`Its page: ${page}`}>
        {name}
      </a>
    );
  if (!may("web.fleet-home")) return <span data-item>{name}</span>;
  return (
    <a data-item href={hashOf({ view: "home", id: home.id })}>
      {name}
    </a>
  );
}
