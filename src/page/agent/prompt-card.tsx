// A permission prompt: who asks for what and where, and the three answers.
// PC1. An answer is given once: a press that repeats one, because nothing is known of the first, has the same id. A
//      refusal says what became of the prompt.
// PC2. "Always" shows the rule before it is made. It is added together with the answer, or not at all.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { newId } from "../../base/ids.ts";
import type { Result } from "../../base/result.ts";
import { plainLine } from "../../base/visible.ts";
import type { Decision } from "../../core/agent/provider.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { randomBytes } from "../browser.ts";
import { Action, Lead } from "../parts/action.tsx";
import { Ago, localised } from "../parts/frame.tsx";
import { may } from "../state/rights.ts";
import { call, canAct, clock, feeds, refresh } from "../state/session.ts";
import { tell } from "../state/toasts.ts";
import { leftText, shortPath } from "../words.ts";
import { PromptInput } from "./prompt-input.tsx";
import { draftFor, type RuleDraft, ruleOf } from "./rule-draft.ts";
import { RuleEditor } from "./rule-editor.tsx";
import type { ShownPrompt } from "./shown-prompts.ts";

type Mode = "asked" | "denying" | "always";

const DONE: Readonly<Record<Decision, string>> = { allow: "Allowed", deny: "Denied" };
const MODES: Readonly<Record<string, Mode>> = { d: "denying", w: "always" };

function answer(prompt: ListedPrompt, decision: Decision, more: { message?: string; always?: boolean } = {}) {
  const given = { prompt: prompt.id, decision, ...more };
  return noted(prompt, call("prompt.answer", { ...given, answer: answerId(given) }));
}

const ids = new Map<string, string>();

/** PC1. What says something else is another answer. */
function answerId(given: object): string {
  const key = JSON.stringify(given);
  const made = ids.get(key) ?? newId(randomBytes(16));
  ids.set(key, made);
  return made;
}

/** By this page, while it is open. */
const answered = new Set<string>();

function noted(prompt: ListedPrompt, done: Promise<Result<unknown>>): Promise<Result<unknown>> {
  answered.add(prompt.id);
  return done;
}

export function PromptCard({ prompt, isOpen }: ShownPrompt): JSX.Element {
  const mode = useSignal<Mode>("asked");
  const card = useRef<HTMLElement>(null);
  const { name, tool, agent } = prompt;
  const cwd = feeds.agents.value.value?.find(({ id }) => id === agent)?.cwd;
  useEffect(() => {
    if (!isOpen && mode.peek() !== "asked" && !answered.has(prompt.id))
      tell(`${plainLine(name)} does not wait any more: it was answered elsewhere, or has taken its question back.`);
  }, [isOpen]);
  const pressed = (event: KeyboardEvent) => {
    if (event.target !== card.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = isOpen && canAct.value && may("prompt.answer") ? MODES[event.key] : undefined;
    if (event.key === "a") card.current?.querySelector<HTMLButtonElement>(".allow button")?.click();
    else if (chosen !== undefined) mode.value = chosen;
    else return;
    event.preventDefault();
  };
  return (
    <article
      ref={card}
      class="card prompt"
      data-item
      data-prompt={prompt.id}
      tabIndex={0}
      aria-label={`${name} asks to use ${tool}`}
      onKeyDown={pressed}
    >
      <header>
        <strong>{plainLine(name)}</strong>
        <span>
          asks to use <code class="tool">{plainLine(tool) || "a tool without a name"}</code>
        </span>
        {cwd !== undefined && (
          <span class="soft" title={cwd}>
            in {shortPath(cwd)}
          </span>
        )}
        <span class="grow" />
        <span class="soft nowrap" title={localised(`asked ${prompt.since}, until ${prompt.deadline}`)}>
          waits <Ago at={prompt.since} /> · {leftText(prompt.deadline, clock.value)}
        </span>
      </header>
      <PromptInput tool={tool} input={prompt.input} />
      {prompt.unsandboxed !== undefined && <p class="note warn">It runs without a sandbox: {prompt.unsandboxed}.</p>}
      {!isOpen && <p class="soft">It is closed.</p>}
      {isOpen && mode.value === "asked" && <Answers prompt={prompt} choose={(next) => (mode.value = next)} />}
      {isOpen && mode.value === "denying" && <Denying prompt={prompt} back={() => (mode.value = "asked")} />}
      {isOpen && mode.value === "always" && <Always prompt={prompt} back={() => (mode.value = "asked")} />}
    </article>
  );
}

type AnswersProps = { readonly prompt: ListedPrompt; readonly choose: (mode: Mode) => void };

function Answers({ prompt, choose }: AnswersProps): JSX.Element {
  return (
    <p class="buttons">
      <span class="allow">
        <Action
          needs="prompt.answer"
          kind="primary"
          hotkey="a"
          label={`Allow ${prompt.tool} for ${prompt.name}`}
          run={() => answer(prompt, "allow")}
          success={`${DONE.allow}: ${prompt.name} goes on.`}
          done={() => refresh("prompts", "agents")}
        >
          Allow
        </Action>
      </span>
      <Lead
        needs="prompt.answer"
        hotkey="d"
        label={`Deny ${prompt.tool} for ${prompt.name}…`}
        to={() => choose("denying")}
      >
        Deny…
      </Lead>
      <Lead
        needs="prompt.answer"
        hotkey="w"
        label={`Always allow ${prompt.tool} for ${prompt.name}…`}
        to={() => choose("always")}
      >
        Always…
      </Lead>
      {!may("prompt.answer") && <span class="soft">This device may not answer it.</span>}
    </p>
  );
}

type BackProps = { readonly prompt: ListedPrompt; readonly back: () => void };

function Denying({ prompt, back }: BackProps): JSX.Element {
  const message = useSignal("");
  return (
    <div class="more">
      <label class="field">
        <span>Message to {plainLine(prompt.name)} (it may be empty)</span>
        <textarea
          rows={2}
          autofocus
          ref={(area) => area?.focus()}
          value={message.value}
          onInput={(event) => (message.value = event.currentTarget.value)}
        />
      </label>
      <p class="buttons">
        <Action
          needs="prompt.answer"
          kind="danger"
          run={() => answer(prompt, "deny", message.value === "" ? {} : { message: message.value })}
          success={`${DONE.deny}: ${prompt.name} was told.`}
          done={() => refresh("prompts", "agents")}
        >
          Deny
        </Action>
        <button type="button" class="button" onClick={back}>
          Back
        </button>
      </p>
    </div>
  );
}

function Always({ prompt, back }: BackProps): JSX.Element {
  const draft = useSignal<RuleDraft | undefined>(draftFor(prompt));
  if (draft.value === undefined)
    return (
      <p class="note">
        No rule can be made that is about exactly this input.{" "}
        <button type="button" class="link" onClick={back}>
          Back
        </button>
      </p>
    );
  const current = draft.value;
  return (
    <div class="more">
      <RuleEditor draft={current} agent={prompt.name} change={(next) => (draft.value = next)} />
      <p class="buttons">
        <Action
          needs="prompt.answer"
          kind="primary"
          run={() => allowAlways(prompt, current)}
          success={`Allowed, from now on without asking.`}
          done={() => refresh("prompts", "agents", "rules")}
        >
          Allow, and add this rule
        </Action>
        <button type="button" class="button" onClick={back}>
          Back
        </button>
      </p>
    </div>
  );
}

/** PC2 */
async function allowAlways(prompt: ListedPrompt, draft: RuleDraft): Promise<Result<unknown>> {
  if (!draft.isEdited && !draft.isForAll) return answer(prompt, "allow", { always: true });
  const rule = ruleOf(draft, prompt);
  if (!rule.ok) return rule;
  const given = { prompt: prompt.id, rule: rule.value, all: draft.isForAll };
  return noted(prompt, call("prompt.always", { ...given, answer: answerId(given) }));
}
