// One item of a conversation. What an agent wrote is shown as text, with every deceptive character written out.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { plainLine, visibleProse } from "../../base/visible.ts";
import type { HistoryRow } from "../../wire/rpc/agent.ts";
import { Ago, localised, State, type Tone } from "../parts/frame.tsx";
import { hashOf } from "../state/route.ts";
import type { ShownItem } from "./conversation.ts";
import { PromptInput } from "./prompt-input.tsx";
import { aboutText } from "./rule-words.ts";

type Of<K extends ShownItem["kind"]> = { readonly item: Extract<ShownItem, { readonly kind: K }> };

export function ConversationItem({ item }: { readonly item: ShownItem }): JSX.Element {
  switch (item.kind) {
    case "message":
      return <Message item={item} />;
    case "text":
      return <Prose text={item.text} />;
    case "tool":
      return <Tool item={item} />;
    case "result":
      return <Result result={item.result} />;
    case "question":
      return <Question item={item} />;
    case "answer":
      return <Answer answer={item.answer} />;
    case "turn":
      return <Turn item={item} />;
    case "life":
      return <Life item={item} />;
  }
}

function Prose({ text }: { readonly text: string }): JSX.Element {
  return <p class="prose">{visibleProse(text)}</p>;
}

function Message({ item: { what, sender, from, text, at } }: Of<"message">): JSX.Element {
  return (
    <div class="said">
      <p class="soft line-of">
        <span class="kind">{what}</span> from{" "}
        {/^[0-9a-f]{32}$/.test(sender) ? (
          <a href={hashOf({ view: "agent", id: sender })}>{plainLine(from)}</a>
        ) : (
          <strong>{plainLine(from)}</strong>
        )}
        <span class="grow" />
        <Ago at={at} />
      </p>
      <Prose text={text} />
    </div>
  );
}

/** Folded: most are only glanced at. What is inside is made when it is opened. */
function Tool({ item: { call, result, at } }: Of<"tool">): JSX.Element {
  const isOpen = useSignal(false);
  const tone: Tone = result === undefined ? "info" : result.ok ? "good" : "bad";
  const word = result === undefined ? "no result yet" : result.ok ? "done" : "failed";
  return (
    <details class="use" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>
        <code class="tool">{plainLine(call.tool)}</code>
        <span class="soft grow cut">{plainLine(aboutText(call).slice(call.tool.length + 1, 300))}</span>
        <State word={word} tone={tone} />
        <Ago at={at} />
      </summary>
      {isOpen.value && <PromptInput tool={call.tool} input={call.input} />}
      {isOpen.value && result !== undefined && <Output text={result.text} />}
    </details>
  );
}

/** It scrolls, and keys must reach that. */
function Output({ text }: { readonly text: string }): JSX.Element {
  return (
    <section class="report" tabIndex={0} aria-label="Result">
      {text === "" ? "(nothing)" : visibleProse(text)}
    </section>
  );
}

/** Its call is earlier than what is shown, or was made over MCP. */
function Result({ result: { tool, ok, text, at } }: { readonly result: ResultRow }): JSX.Element {
  const isOpen = useSignal(false);
  return (
    <details class="use" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>
        {tool === "" ? "Result" : <code class="tool">{plainLine(tool)}</code>}
        <span class="soft grow cut">{plainLine(text.slice(0, 200))}</span>
        <State word={ok ? "done" : "failed"} tone={ok ? "good" : "bad"} />
        <Ago at={at} />
      </summary>
      {isOpen.value && <Output text={text} />}
    </details>
  );
}

type ResultRow = Extract<HistoryRow, { readonly kind: "result" }>;
type AnswerRow = Extract<HistoryRow, { readonly kind: "answered" }>;

function Question({ item: { asked, answer, at } }: Of<"question">): JSX.Element {
  return (
    <div class="asked">
      <p class="line-of">
        <span class="nowrap">asks to use</span> <code class="tool">{plainLine(asked.tool)}</code>
        <span class="soft grow cut">{plainLine(aboutText(asked).slice(asked.tool.length + 1, 300))}</span>
        <Ago at={at} />
      </p>
      {answer !== undefined && <Answer answer={answer} />}
    </div>
  );
}

const BY: Readonly<Record<string, string>> = {
  user: "by a person",
  rule: "by a rule",
  expired: "because nobody answered in time",
  default: "by the default for this agent",
};

function Answer({ answer: { decision, by, text, rule } }: { readonly answer: AnswerRow }): JSX.Element {
  return (
    <p class="soft line-of">
      <State word={decision === "allow" ? "allowed" : "denied"} tone={decision === "allow" ? "good" : "bad"} />
      {BY[by] ?? by}
      {rule !== undefined && <code title={rule}>{plainLine(rule).slice(0, 40)}</code>}
      {text !== "" && <span class="cut">{plainLine(text)}</span>}
    </p>
  );
}

const TURN_TONES: Readonly<Record<string, Tone>> = {
  ...{ began: "info", complete: "good", failed: "bad", interrupted: "warn", retried: "warn" },
};

function Turn({ item: { turn, what, text, at } }: Of<"turn">): JSX.Element {
  return (
    <>
      {what === "complete" && text !== "" && <Prose text={text} />}
      <p class={`turn line-of ${what}`}>
        <State word={`turn ${turn} ${what}`} tone={TURN_TONES[what] ?? "soft"} />
        {what !== "complete" && text !== "" && <span class="grow bad">{localised(visibleProse(text))}</span>}
        <Ago at={at} />
      </p>
    </>
  );
}

function Life({ item: { what, text, isBad, at } }: Of<"life">): JSX.Element {
  return (
    <p class={`line-of ${isBad ? "bad" : "soft"}`}>
      {what}
      {text !== "" && `: ${localised(visibleProse(text))}`}
      <span class="grow" />
      <Ago at={at} />
    </p>
  );
}
