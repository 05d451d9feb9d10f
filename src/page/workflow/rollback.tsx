// Sets a run back to one of its checkpoints: which one, what would be undone, and then.
// RB1. What would be undone is shown first, by a dry run of the daemon. The effects of steps remain, and it says so.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { WebCheckpoint, WebCheckpoints } from "../../wire/page/messages.ts";
import type { ListedRun, RolledBackRun } from "../../wire/rpc/workflow.ts";
import { Form } from "../parts/form.tsx";
import { Ago, Empty, Words } from "../parts/frame.tsx";
import { closeDialog, openDialog } from "../state/dialog.ts";
import { call, refresh } from "../state/session.ts";
import { count } from "../words.ts";

const REASONS: Readonly<Record<string, string>> = {
  ...{ BeforeStep: "before a step", AfterStep: "after a step", StepFailed: "a step had failed" },
  ...{ Signal: "it was stopped", TimeInterval: "from time to time", Manual: "made by hand" },
};

export function Rollback({ run }: { readonly run: ListedRun }): JSX.Element {
  const { id, repo } = run;
  const found = useSignal<WebCheckpoints | undefined>(undefined);
  const why = useSignal("");
  useEffect(() => {
    void call("web.checkpoints", { repo, run: id }).then((answer) => {
      if (answer.ok) found.value = answer.value;
      else why.value = `${answer.error.message} ${answer.error.hint}`;
    });
  }, [repo, id]);
  const plan = async ({ seq }: WebCheckpoint) => {
    const planned = await call("workflow.rollback", { id, seq, dryRun: true });
    if (planned.ok) openDialog(`Roll back ${run.name} to ${seq}`, <Undo seq={seq} planned={planned.value} />);
    else why.value = `${planned.error.message} ${planned.error.hint}`;
  };
  return (
    <>
      {found.value === undefined && why.value === "" && <Empty>Looking…</Empty>}
      {found.value?.checkpoints.length === 0 && <Empty>It has no checkpoint that could be used.</Empty>}
      <ul class="rows checkpoints">
        {found.value?.checkpoints.map((one) => (
          <li key={one.seq} class="row">
            <span class="grow">step {one.step}</span>
            <span class="soft nowrap">
              {REASONS[one.reason] ?? one.reason}, <Ago at={one.time} /> ago
            </span>
            <button
              type="button"
              class="button"
              aria-label={`Back to ${one.seq}, step ${one.step}`}
              onClick={() => void plan(one)}
            >
              Back to it…
            </button>
          </li>
        ))}
      </ul>
      {why.value !== "" && (
        <p class="note warn" role="alert">
          <Words text={why.value} />
        </p>
      )}
      <p class="buttons">
        <button type="button" class="button" autofocus onClick={closeDialog}>
          Close
        </button>
      </p>
    </>
  );
}

/** RB1 */
function Undo({ seq, planned }: { readonly seq: number; readonly planned: RolledBackRun }): JSX.Element {
  const { run, steps, more, items } = planned;
  return (
    <Form
      fields={[]}
      submit="Roll back"
      danger
      run={() => call("workflow.rollback", { id: run.id, seq, dryRun: false })}
      success={`${run.name} is set back. Resume continues from there.`}
      done={() => refresh("runs")}
    >
      <p>
        {steps.length + items === 0 ? "No steps" : "These steps"} would be undone for the run. Their effects remain, and
        they run again when it is resumed.
      </p>
      <ul class="rows undone">
        {steps.map(({ step, iteration, outcome }, at) => (
          <li key={at} class="row">
            <code>{step}</code>
            <span class="soft">
              {iteration > 1 && `iteration ${iteration}, `}
              {outcome}
            </span>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="soft">and {count(more, "more step")}</p>}
      {items > 0 && <p class="soft">{count(items, "item")} of the map</p>}
    </Form>
  );
}
