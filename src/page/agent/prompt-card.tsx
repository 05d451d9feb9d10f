// A permission prompt: who asks for what and where, and the three answers.
// PC1. An answer is given once: its id is made when the button is pressed; a refusal says what became of the prompt.
// PC2. "Always" shows the rule before it is made. What was edited is added as a rule, then the prompt is allowed.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { newId } from "../../base/ids.ts";
import type { Result } from "../../base/result.ts";
import { plainLine } from "../../base/visible.ts";
import type { Decision } from "../../core/agent/provider.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { randomBytes } from "../browser.ts";
import { Action } from "../parts/action.tsx";
import { Ago, localised } from "../parts/frame.tsx";
import { call, clock, feeds, refresh } from "../state/session.ts";
import { leftText, shortPath } from "../words.ts";
import { PromptInput } from "./prompt-input.tsx";
import { draftFor, type RuleDraft, ruleOf } from "./rule-draft.ts";
import { RuleEditor } from "./rule-editor.tsx";

type Mode = "asked" | "denying" | "always";

const DONE: Readonly<Record<Decision, string>> = { allow: "Allowed", deny: "Denied" };
const MODES: Readonly<Record<string, Mode>> = { d: "denying", w: "always" };

function answer(prompt: ListedPrompt, decision: Decision, more: { message?: string; always?: boolean } = {}) {
  return call("prompt.answer", { prompt: prompt.id, answer: newId(randomBytes(16)), decision, ...more }); // PC1
}

export function PromptCard({ prompt }: { readonly prompt: ListedPrompt }): JSX.Element {
  const mode = useSignal<Mode>("asked");
  const card = useRef<HTMLElement>(null);
  const { name, tool, agent } = prompt;
  const cwd = feeds.agents.value.value?.find(({ id }) => id === agent)?.cwd;
  const pressed = (event: KeyboardEvent) => {
    if (event.target !== card.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = MODES[event.key];
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
      {mode.value === "asked" && <Answers prompt={prompt} choose={(next) => (mode.value = next)} />}
      {mode.value === "denying" && <Denying prompt={prompt} back={() => (mode.value = "asked")} />}
      {mode.value === "always" && <Always prompt={prompt} back={() => (mode.value = "asked")} />}
    </article>
  );
}

type AnswersProps = { readonly prompt: ListedPrompt; readonly choose: (mode: Mode) => void };

function Answers({ prompt, choose }: AnswersProps): JSX.Element {
  return (
    <p class="buttons">
      <span class="allow">
        <Action
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
      <button type="button" class="button" data-key="d" onClick={() => choose("denying")}>
        Deny…
      </button>
      <button type="button" class="button" data-key="w" onClick={() => choose("always")}>
        Always…
      </button>
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
  const rule = ruleOf(draft, prompt, newId(randomBytes(16)).slice(0, 12));
  if (!rule.ok) return rule;
  const added = await call("rule.add", { agent: draft.isForAll ? null : prompt.agent, rule: rule.value });
  return added.ok ? answer(prompt, "allow") : added;
}
