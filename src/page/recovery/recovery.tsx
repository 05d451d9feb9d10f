// Recovery: its stages while they happen, its reports, the crashes, and the health of this home.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { retriedStage } from "../../core/recovery.ts";
import type { ReportSummary } from "../../wire/page/messages.ts";
import type { Report, StatusResult } from "../../wire/rpc/rpc.ts";
import { Action } from "../parts/action.tsx";
import { Ago, Empty, localised, Section, State } from "../parts/frame.tsx";
import { hashOf } from "../state/route.ts";
import { call, daemon, feeds, refresh } from "../state/session.ts";
import { count, spanText } from "../words.ts";
import { showReport } from "./bug-report.tsx";
import { crashLine, fateTone, STAGE_WORDS, stageStates } from "./stages.ts";

export function Recovery({ report }: { readonly report: string | undefined }): JSX.Element {
  const status = feeds.status.value.value;
  const found = feeds.reports.value.value;
  return (
    <div class="view">
      <div class="head">
        <h1>Recovery</h1>
        <button type="button" class="button" onClick={() => void showReport()}>
          Report an issue…
        </button>
      </div>
      <Stages status={status} />
      {status !== undefined && <Health status={status} />}
      <Section title="Reports" {...(found !== undefined && { many: found.reports.length })}>
        {found?.reports.length === 0 && <Empty>Nothing had to be recovered yet.</Empty>}
        <ul class="rows">
          {found?.reports.map((one) => (
            <ReportRow key={one.name} summary={one} isOpen={one.name === report} />
          ))}
        </ul>
      </Section>
      <Section title="Crashes">
        {found?.crashes.length === 0 && <Empty>No crash is on record.</Empty>}
        <ol class="timeline">
          {found?.crashes.map((crash) => (
            <li key={`${crash.name} ${crash.time}`}>
              <Ago at={crash.time} /> ago <strong>{crash.name}</strong> {localised(crashLine(crash))}
            </li>
          ))}
        </ol>
      </Section>
    </div>
  );
}

function Stages({ status }: { readonly status: StatusResult | undefined }): JSX.Element {
  const stage = daemon.value.up ? (status?.recovery.stage ?? "CRASHED") : "CRASHED";
  const { attempt = 1, progress, reading } = status?.recovery ?? {};
  const how = reading ? `Reading ${reading.what}: ${reading.done} of ${reading.total}.` : "";
  const back = progress && stage !== "LIVE" ? `${progress.done} of ${count(progress.total, "terminal")} back.` : "";
  return (
    <section aria-label="Stages">
      <ol class="stages">
        {stageStates(stage).map(({ name, state }) => (
          <li key={name} class={state} {...(state === "now" && { "aria-current": "step" as const })}>
            {STAGE_WORDS[name]}
          </li>
        ))}
      </ol>
      <p class="soft" role="status">
        {[how, back, attempt > 1 ? `Attempt ${attempt}.` : ""].join(" ")}
      </p>
      {retriedStage(stage) !== undefined && (
        <Action
          kind="primary"
          run={() => call("recovery.retry", {})}
          success="The recovery goes on."
          done={() => refresh("status", "terminals")}
        >
          Try again
        </Action>
      )}
    </section>
  );
}

function Health({ status }: { readonly status: StatusResult }): JSX.Element {
  const { counts, watchdog, daemon: running, web, disk, programs = [] } = status;
  const facts: readonly (readonly [name: string, value: string, isBad?: boolean])[] = [
    ["Daemon", `pid ${running.pid}`],
    ["Watchdog", watchdog.pid === null ? "none: a crash is not noticed" : `pid ${watchdog.pid}`, watchdog.pid === null],
    ["Web host", web.pid === null ? "not registered" : `pid ${web.pid}`],
    ["Disk", disk ? `${disk.operation} failed: ${disk.code}. ${disk.hint}` : "writes work", Boolean(disk)],
    [
      "Holds",
      `${count(counts.terminals, "terminal")}, ${count(counts.agents, "agent")}, ${count(counts.workflows, "run")}`,
    ],
    ...programs.map(({ name, pid }) => [name, pid === null ? "not running" : `pid ${pid}`, pid === null] as const),
    ["Version", status.version],
  ];
  return (
    <Section title="Health">
      <dl class="facts">
        {facts.map(([name, value, isBad = false]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={isBad ? "bad" : ""}>{value}</dd>
          </div>
        ))}
        <div>
          <dt>Up for</dt>
          <dd>
            <Ago at={running.startedAt} />
          </dd>
        </div>
      </dl>
    </Section>
  );
}

function ReportRow({ summary, isOpen }: { readonly summary: ReportSummary; readonly isOpen: boolean }): JSX.Element {
  const { name, at, cause, tookMs, fates } = summary;
  const parts = Object.entries(fates).map(([fate, many]) => `${many} ${fate}`);
  return (
    <li class="report-row">
      <a
        class="row"
        data-item
        href={hashOf({ view: "recovery", report: isOpen ? undefined : name })}
        aria-expanded={isOpen}
      >
        <strong>{cause}</strong>
        <span class="soft grow">
          {parts.join(", ") || "nothing to bring back"} · took {tookMs < 1000 ? `${tookMs} ms` : spanText(tookMs)}
        </span>
        <Ago at={at} />
      </a>
      {isOpen && <Items name={name} />}
    </li>
  );
}

function Items({ name }: { readonly name: string }): JSX.Element {
  const report = useSignal<Report | null | undefined>(undefined);
  const why = useSignal("");
  useEffect(() => {
    void call("recovery.report", { name }).then((found) => {
      if (found.ok) report.value = found.value;
      else why.value = `${found.error.message} ${found.error.hint}`;
    });
  }, [name]);
  if (why.value !== "") return <Empty>{localised(why.value)}</Empty>;
  const items = report.value?.items ?? [];
  return (
    <table>
      <thead>
        <tr>
          {["What", "Outcome", "Why", "Next"].map((head) => (
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
  );
}
