// What happened to this home: crashes and recoveries on a line of time, and each recovery's report.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { CrashSeen, ReportSummary, WebReports } from "../../wire/page/messages.ts";
import type { Report } from "../../wire/rpc/rpc.ts";
import { minutesAhead } from "../browser.ts";
import { Empty, localised, Section, State } from "../parts/frame.tsx";
import { hashOf } from "../state/route.ts";
import { call, clock, daemon } from "../state/session.ts";
import { count, spanText } from "../words.ts";
import { fateTone } from "./stages.ts";
import { clockTime, daysOf, type Moment, momentsOf, whatHappened } from "./time-line.ts";

const ZONE = { minutesAhead };
/** What fits a look; the rest is shown when it is asked for. */
const FIRST = 30;

type HistoryProps = { readonly found: WebReports | undefined; readonly open: string | undefined };

export function History({ found, open }: HistoryProps): JSX.Element {
  const isWhole = useSignal(false);
  const moments = found === undefined ? [] : momentsOf(found);
  const isInView = moments.findIndex((one) => one.kind === "recovery" && one.report.name === open) < FIRST;
  const shown = isWhole.value || !isInView ? moments : moments.slice(0, FIRST);
  const crashes = found?.crashes.length ?? 0;
  return (
    <Section title="Crashes and recoveries" {...(crashes > 0 && { many: crashes })}>
      {found !== undefined && moments.length === 0 && <Empty>No crash is on record, and nothing was recovered.</Empty>}
      {daysOf(ZONE, shown, clock.value).map(({ day, moments: ofDay }) => (
        <div key={day} class="day">
          <h3>{day}</h3>
          <ol class="timeline">
            {ofDay.map((one) => (
              <MomentRow key={`${one.kind} ${one.at}`} moment={one} open={open} />
            ))}
          </ol>
        </div>
      ))}
      {shown.length < moments.length && (
        <button type="button" class="button" onClick={() => (isWhole.value = true)}>
          Show {moments.length - shown.length} earlier
        </button>
      )}
    </Section>
  );
}

function MomentRow({ moment, open }: { readonly moment: Moment; readonly open: string | undefined }): JSX.Element {
  const { at } = moment;
  const time = (
    <time dateTime={at} title={localised(at)}>
      {clockTime(ZONE, at)}
    </time>
  );
  if (moment.kind === "crash")
    return (
      <li class="bad" data-item tabIndex={-1}>
        {time}
        <Crash crash={moment.crash} times={moment.times} />
      </li>
    );
  return (
    <li class={tone(moment.report)}>
      {time}
      <Recovered report={moment.report} isOpen={moment.report.name === open} />
    </li>
  );
}

function Crash({ crash, times }: { readonly crash: CrashSeen; readonly times: number }): JSX.Element {
  return (
    <span class="moment">
      <strong>{crash.name}</strong> {whatHappened(crash)}{" "}
      <span class="soft">{times > 1 ? `${times} times in a row` : `process ${crash.pid}`}</span>
    </span>
  );
}

function tone({ fates }: ReportSummary): string {
  if (fates["could not"] !== undefined) return "bad";
  return fates["needs you"] === undefined ? "good" : "warn";
}

const CAUSES: Readonly<Record<ReportSummary["cause"], string>> = {
  "daemon crash": "Recovered from a crash of the daemon",
  "machine crash": "Recovered from a crash of the machine",
  "machine restart": "Came back after a restart of the machine",
  "clean start": "Started",
  "holder crash": "Recovered from a crash of a holder",
  "taken over": "Taken over from another host",
};

function Recovered({ report, isOpen }: { readonly report: ReportSummary; readonly isOpen: boolean }): JSX.Element {
  const { name, cause, from, tookMs, fates } = report;
  const parts = Object.entries(fates).map(([fate, many]) => `${many} ${fate}`);
  const took = tookMs === 0 ? "" : ` · took ${tookMs < 1000 ? `${tookMs} ms` : spanText(tookMs)}`;
  return (
    <div class="moment">
      <a data-item href={hashOf({ view: "recovery", report: isOpen ? undefined : name })} aria-expanded={isOpen}>
        <strong>{from === undefined ? (CAUSES[cause] ?? cause) : `Taken over from ${from}`}</strong>{" "}
        <span class="soft">
          {parts.join(", ") || "nothing to bring back"}
          {took}
        </span>
      </a>
      {isOpen && <Items name={name} />}
    </div>
  );
}

const HEAD = ["What", "Outcome", "Why", "Next"];

function Items({ name }: { readonly name: string }): JSX.Element {
  const report = useSignal<Report | null | undefined>(undefined);
  const why = useSignal("");
  useEffect(() => {
    void call("recovery.report", { name }).then((found) => {
      if (found.ok) report.value = found.value;
      why.value = found.ok ? "" : `${found.error.message} ${found.error.hint}`;
    });
  }, [name, daemon.value.up]);
  if (report.value === undefined && why.value !== "") return <Empty>{localised(why.value)}</Empty>;
  if (report.value === undefined) return <Empty>Looking…</Empty>;
  const { items = [], more = 0 } = report.value ?? {};
  if (items.length === 0) return <Empty>There was nothing to bring back.</Empty>;
  return (
    <>
      <table>
        <thead>
          <tr>
            {HEAD.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map(({ what, id, name: named, fate, reason, next }) => (
            <tr key={`${what} ${id}`}>
              <td>
                {what} <strong>{named}</strong>
              </td>
              <td>
                <State word={fate} tone={fateTone(fate)} />
              </td>
              <td>{localised(reason)}</td>
              <td>{next !== "" && <code>{next}</code>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="soft">{count(more, "item")} more; none of them needs you more than these.</p>}
    </>
  );
}
