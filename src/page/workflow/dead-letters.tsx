// The dead-letter queue of a run: items that failed for good, a page at a time, to be tried again or cleared.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { DeadLetters as Letters, ListedRun } from "../../wire/rpc/workflow.ts";
import { Lead } from "../parts/action.tsx";
import { Form } from "../parts/form.tsx";
import { Empty, Section } from "../parts/frame.tsx";
import { openDialog } from "../state/dialog.ts";
import { call, daemon, refresh } from "../state/session.ts";
import { count } from "../words.ts";
import { Letter, TryAllAgain } from "./failed-items.tsx";

/** What fits a look; an answer has more. */
const SHOWN = 20;

type Props = { readonly run: ListedRun; readonly failed: number };

export function DeadLetters({ run, failed }: Props): JSX.Element {
  const { id } = run;
  const from = useSignal(0);
  const found = useSignal<Letters | undefined>(undefined);
  const why = useSignal("");
  useEffect(() => {
    void call("dlq.list", { id, from: from.value }).then((answer) => {
      if (answer.ok) found.value = answer.value;
      why.value = answer.ok ? "" : `${answer.error.message} ${answer.error.hint}`;
    });
  }, [id, failed, from.value, daemon.value.up]);
  const shown = found.value?.letters.slice(0, SHOWN) ?? [];
  const next = found.value?.letters[SHOWN]?.item ?? found.value?.next ?? null;
  return (
    <Section title="Failed items" many={failed}>
      <p class="buttons">
        <TryAllAgain run={run} />
        <Lead
          kind="danger"
          needs="dlq.clear"
          to={() => openDialog("Clear failed items", <Clear run={run} failed={failed} />)}
        >
          Clear all…
        </Lead>
      </p>
      {shown.length === 0 && <Empty>{why.value === "" ? "Looking…" : why.value}</Empty>}
      <ul class="rows">
        {shown.map((letter) => (
          <Letter key={letter.item} run={run} letter={letter} isFirst={false} />
        ))}
      </ul>
      <p class="buttons paging">
        {from.value > 0 && (
          <button type="button" class="button" onClick={() => (from.value = 0)}>
            First ones
          </button>
        )}
        {next !== null && (
          <button type="button" class="button" onClick={() => (from.value = next)}>
            Next {SHOWN}
          </button>
        )}
      </p>
    </Section>
  );
}

function Clear({ run: { id, name }, failed }: Props): JSX.Element {
  return (
    <Form
      fields={[]}
      submit="Clear them"
      danger
      run={() => call("dlq.clear", { id, items: "all" })}
      success={`The failed items of ${name} are cleared.`}
      done={() => refresh("runs")}
    >
      <p>
        {count(failed, "item")} of {name} stay failed, and are not asked about again.
      </p>
    </Form>
  );
}
