// Recovery: its stages while they happen, the health of this home, and what happened to it.
import type { JSX } from "preact";
import { retriedStage } from "../../core/recovery.ts";
import type { StatusResult } from "../../wire/rpc/rpc.ts";
import { Action } from "../parts/action.tsx";
import { call, daemon, feeds, refresh } from "../state/session.ts";
import { count } from "../words.ts";
import { showReport } from "./bug-report.tsx";
import { Health } from "./health.tsx";
import { History } from "./history.tsx";
import { STAGE_WORDS, stageStates } from "./stages.ts";

export function Recovery({ report }: { readonly report: string | undefined }): JSX.Element {
  const status = feeds.status.value.value;
  return (
    <div class="view">
      <div class="head">
        <h1>Recovery</h1>
        <Action isOfHost needs="web.bundle" run={showReport}>
          Report an issue…
        </Action>
      </div>
      <Stages status={status} />
      <Health status={status} />
      <History found={feeds.reports.value.value} open={report} />
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
          needs="recovery.retry"
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
