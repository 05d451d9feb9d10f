// The items of a run that failed for good: each with its error, to be tried again one by one or all together.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { shortId } from "../../base/ids.ts";
import type { DeadLetter, ListedRun } from "../../wire/rpc/workflow.ts";
import { Action } from "../parts/action.tsx";
import { Ago } from "../parts/frame.tsx";
import { call, refresh } from "../state/session.ts";
import { count } from "../words.ts";

/** More are counted, not listed. */
const SHOWN = 5;

export function FailedItems({ run }: { readonly run: ListedRun }): JSX.Element {
  const { id, name } = run;
  const failed = run.items?.failed ?? 0;
  const letters = useSignal<readonly DeadLetter[]>([]);
  useEffect(() => {
    void call("dlq.list", { id, from: 0 }).then((found) => {
      if (found.ok) letters.value = found.value.letters;
    });
  }, [id, failed]);
  return (
    <article class="card bad" data-item tabIndex={-1} aria-label={`Failed items of ${name}`}>
      <header>
        <strong>
          {count(failed, "item")} of {name} failed
        </strong>
        <span class="soft">{shortId(id)}</span>
        <span class="grow" />
        <Ago at={run.startedAt} />
      </header>
      <ul class="rows">
        {letters.value.slice(0, SHOWN).map((letter) => (
          <Letter key={letter.item} id={id} letter={letter} />
        ))}
      </ul>
      {failed > SHOWN && <p class="soft">and {failed - SHOWN} more</p>}
      <p class="buttons">
        <Action
          kind="primary"
          run={() => call("dlq.retry", { id, items: "all" })}
          success={`The failed items of ${name} are tried again.`}
          done={() => refresh("runs")}
        >
          Try all again
        </Action>
      </p>
    </article>
  );
}

function Letter({ id, letter }: { readonly id: string; readonly letter: DeadLetter }): JSX.Element {
  const { item, value, step, message, tries } = letter;
  return (
    <li class="row">
      <code class="value">{value}</code>
      <span class="soft grow">
        {step}: {message} ({count(tries, "try", "tries")})
      </span>
      <Action
        label={`Try again: item ${item}`}
        run={() => call("dlq.retry", { id, items: [item] })}
        success={`Item ${item} is tried again.`}
        done={() => refresh("runs")}
      >
        Try again
      </Action>
    </li>
  );
}
