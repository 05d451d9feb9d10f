// What a person can do about a run, by its state.
// RA1. What cannot be taken back without effort asks first.
import type { JSX } from "preact";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { Action, Lead } from "../parts/action.tsx";
import { Form } from "../parts/form.tsx";
import { openDialog } from "../state/dialog.ts";
import { call, refresh } from "../state/session.ts";
import { Rollback } from "./rollback.tsx";
import { askStart } from "./start-run.tsx";

const refreshed = () => refresh("runs");
const GOING: readonly ListedRun["state"][] = ["queued", "running", "waiting", "uncertain"];
const RESUMABLE: readonly ListedRun["state"][] = ["failed", "interrupted", "cancelled"];

export function RunActions({ run }: { readonly run: ListedRun }): JSX.Element {
  const { id, name, state, path } = run;
  const isGoing = GOING.includes(state);
  const isOpen = isGoing || state === "failed" || state === "interrupted";
  return (
    <p class="buttons">
      <Resume run={run} />
      {isGoing && (
        <Action
          needs="workflow.interrupt"
          run={() => call("workflow.interrupt", { id })}
          success={`${name} is interrupted; it can be resumed.`}
          done={refreshed}
        >
          Interrupt
        </Action>
      )}
      {!isGoing && (
        <Lead needs="workflow.rollback" to={() => openDialog(`Roll back ${name}`, <Rollback run={run} />)}>
          Roll back…
        </Lead>
      )}
      {isOpen && (
        <Lead kind="danger" needs="workflow.cancel" to={() => openDialog(`Give up ${name}`, <GiveUp run={run} />)}>
          Give up…
        </Lead>
      )}
      {!isGoing && (
        <Lead needs="web.run" to={() => askStart(path)}>
          Start again…
        </Lead>
      )}
    </p>
  );
}

/** A run that is still going on may wait for secrets, too. */
function Resume({ run }: { readonly run: ListedRun }): JSX.Element | null {
  const { id, name, state, lacks = [] } = run;
  const force = state === "cancelled";
  if (lacks.length > 0)
    return (
      <Lead kind="primary" needs="workflow.resume" to={() => openDialog(`Resume ${name}`, <Secrets run={run} />)}>
        Resume…
      </Lead>
    );
  if (!RESUMABLE.includes(state)) return null;
  return (
    <Action
      kind={force ? "plain" : "primary"}
      needs="workflow.resume"
      run={() => call("workflow.resume", { id, force })}
      success={`${name} goes on.`}
      done={refreshed}
    >
      {force ? "Resume after all" : "Resume"}
    </Action>
  );
}

function Secrets({ run }: { readonly run: ListedRun }): JSX.Element {
  const { id, name, state, lacks = [] } = run;
  const fields = lacks.map((one) => ({ name: one, label: one, value: "", type: "password" as const }));
  return (
    <Form
      fields={fields}
      submit="Resume"
      run={(secrets) => call("workflow.resume", { id, force: state === "cancelled", secrets })}
      success={`${name} goes on.`}
      done={refreshed}
    >
      <p class="soft">These secrets are stored nowhere, and are not known any more since Holdfast was started again.</p>
    </Form>
  );
}

/** RA1 */
function GiveUp({ run }: { readonly run: ListedRun }): JSX.Element {
  const { id, name } = run;
  return (
    <Form
      fields={[]}
      submit="Give up"
      danger
      run={() => call("workflow.cancel", { id })}
      success={`${name} is given up.`}
      done={refreshed}
    >
      <p>What runs is stopped, and no other step begins. What was done stays done.</p>
    </Form>
  );
}
