// The items of a run that failed for good: each with its error, to be tried again one by one or all together.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { shortId } from "../../base/ids.ts";
import type { DeadLetter, ListedRun } from "../../wire/rpc/workflow.ts";
import { Action } from "../parts/action.tsx";
import { Ago, localised } from "../parts/frame.tsx";
import { call, daemon, refresh } from "../state/session.ts";
import { count } from "../words.ts";
import { Evidence } from "./evidence.tsx";

/** More are counted, not listed. */
const SHOWN = 5;

export function FailedItems({ run }: { readonly run: ListedRun }): JSX.Element {
  const { id, name } = run;
  const failed = run.items?.failed ?? 0;
  const letters = useSignal<readonly DeadLetter[]>([]);
  const why = useSignal("");
  useEffect(() => {
    void call("dlq.list", { id, from: 0 }).then((found) => {
      if (found.ok) letters.value = found.value.letters;
      why.value = found.ok ? "" : `${found.error.message} ${found.error.hint}`;
    });
  }, [id, failed, daemon.value.up]);
  return (
    <article class="card bad" data-item tabIndex={-1} aria-label={`Failed items of ${name}`}>
      <header>
        <strong>
          {count(failed, "item")} of {name} failed
        </strong>
        <span class="soft">{shortId(id)}</span>
        <span class="grow" />
        <span class="soft">
          began <Ago at={run.startedAt} /> ago
        </span>
      </header>
      <ul class="rows">
        {letters.value.slice(0, SHOWN).map((letter) => (
          <Letter key={letter.item} run={run} letter={letter} isFirst={letter === letters.value[0]} />
        ))}
      </ul>
      {letters.value.length === 0 && why.value !== "" && <p class="soft">{localised(why.value)}</p>}
      {failed > SHOWN && (
        <p class="soft">
          and {failed - SHOWN} more: <code>holdfast dlq ls {shortId(id)}</code>
        </p>
      )}
      <p class="buttons">
        <TryAllAgain run={run} />
      </p>
    </article>
  );
}

export function TryAllAgain({ run: { id, name } }: { readonly run: ListedRun }): JSX.Element {
  return (
    <Action
      kind="primary"
      needs="dlq.retry"
      run={() => call("dlq.retry", { id, items: "all" })}
      success={`The failed items of ${name} are tried again.`}
      done={() => refresh("runs")}
    >
      Try all again
    </Action>
  );
}

export type LetterProps = { readonly run: ListedRun; readonly letter: DeadLetter; readonly isFirst: boolean };

export function Letter({ run, letter, isFirst }: LetterProps): JSX.Element {
  const { item, value, step, message, tries, attempt } = letter;
  return (
    <li>
      <div class="row">
        <code class="value">{value}</code>
        <span class="soft grow" title={message}>
          {step}: {message} ({count(tries, "try", "tries")})
        </span>
        <Action
          label={`Try again: item ${item}`}
          needs="dlq.retry"
          run={() => call("dlq.retry", { id: run.id, items: [item] })}
          success={`Item ${item} is tried again.`}
          done={() => refresh("runs")}
        >
          Try again
        </Action>
      </div>
      {attempt !== undefined && <Folded run={run} attempt={attempt} step={step} item={item} isFirst={isFirst} />}
    </li>
  );
}

type FoldedProps = Parameters<typeof Evidence>[0] & { readonly isFirst: boolean };

/** Evidence is fetched when it is looked at: there may be many items. */
function Folded({ isFirst, ...what }: FoldedProps): JSX.Element {
  const isOpen = useSignal(isFirst);
  return (
    <details open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>Evidence</summary>
      {isOpen.value && <Evidence {...what} />}
    </details>
  );
}
