// One item of a map: its value, how it ended or that it is being worked on, and the evidence.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { textOf } from "../../base/json.ts";
import type { ShownItem, ShownRun } from "../../wire/rpc/workflow.ts";
import { Action } from "../parts/action.tsx";
import { Ago, Empty, localised, State, type Tone } from "../parts/frame.tsx";
import { call, refresh } from "../state/session.ts";
import { count } from "../words.ts";
import { Evidence } from "./evidence.tsx";

const TONES: Readonly<Record<ShownItem["state"], Tone>> = {
  ...{ pending: "soft", active: "info", succeeded: "good", failed: "bad", cleared: "warn" },
};

type PanelProps = { readonly run: ShownRun; readonly item: number };

export function ItemPanel({ run, item }: PanelProps): JSX.Element {
  const found = useSignal<ShownItem | undefined>(undefined);
  const why = useSignal("");
  const { id, items } = run;
  useEffect(() => {
    void call("dlq.show", { id, item }).then((answer) => {
      if (answer.ok) found.value = answer.value;
      why.value = answer.ok ? "" : `${answer.error.message} ${answer.error.hint}`;
    });
  }, [id, item, items?.active, items?.succeeded, items?.failed]);
  if (found.value === undefined) return <Empty>{why.value === "" ? "Looking…" : why.value}</Empty>;
  return <Known run={run} found={found.value} />;
}

function Known({ run, found }: { readonly run: ShownRun; readonly found: ShownItem }): JSX.Element {
  const { item, value, state, tries, error, at } = found;
  const running = run.attempts.find((one) => one.item === item && one.agent === null);
  const attempt = running?.attempt ?? error?.attempt;
  return (
    <article class="card" aria-label={`Item ${item}`}>
      <header>
        <strong>Item {item}</strong>
        <State word={state} tone={TONES[state]} />
        <span class="soft">
          {tries > 1 && `${count(tries, "try", "tries")}, `}
          {at !== null && (
            <>
              ended <Ago at={at} /> ago
            </>
          )}
        </span>
        <span class="grow" />
        {state === "failed" && <TryAgain run={run} item={item} />}
      </header>
      <section class="json" tabIndex={0} aria-label={`Value of item ${item}`}>
        {textOf(value)}
      </section>
      {error !== null && <p class="evidence">{localised(`${error.step}: ${error.message}`)}</p>}
      {attempt !== undefined && (
        <Evidence
          key={attempt}
          {...{ run, attempt, item }}
          step={running?.step ?? error?.step ?? ""}
          isLive={running !== undefined}
        />
      )}
    </article>
  );
}

function TryAgain({ run, item }: PanelProps): JSX.Element {
  return (
    <Action
      needs="dlq.retry"
      run={() => call("dlq.retry", { id: run.id, items: [item] })}
      success={`Item ${item} is tried again.`}
      done={() => refresh("runs")}
    >
      Try again
    </Action>
  );
}
