// A permission prompt of a home on another host, answered through the database: what becomes of it is decided there.
// FP1. What came of it is what the other home says. Without a word from it for a while, nothing is claimed, and the
//      same answer can be given again: it is the same one.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { ok, type Result, refused } from "../../base/result.ts";
import { plainLine } from "../../base/visible.ts";
import type { Decision } from "../../core/agent/provider.ts";
import type { FleetHome } from "../../wire/page/messages.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { PromptInput } from "../agent/prompt-input.tsx";
import { after, now } from "../browser.ts";
import { Action } from "../parts/action.tsx";
import { Ago } from "../parts/frame.tsx";
import { call, clock } from "../state/session.ts";
import { leftText } from "../words.ts";

/** A takeover may be under way there. */
const WAIT_MS = 30_000;
const LOOK_MS = 400;
const DONE: Readonly<Record<Decision, string>> = { allow: "Allowed", deny: "Denied" };

type Props = { readonly home: FleetHome; readonly prompt: ListedPrompt };

export function FarPrompt({ home, prompt }: Props): JSX.Element {
  const given = useSignal<Decision | undefined>(undefined);
  const { id, name, tool, since, deadline } = prompt;
  const answer = (decision: Decision, words: string, kind: "primary" | "plain") => (
    <Action
      needs="fleet.ask"
      kind={kind}
      label={`${words} ${tool} for ${name}`}
      run={() => answered(home, id, decision)}
      success={`${DONE[decision]}: ${plainLine(home.host)} has it.`}
      done={() => (given.value = decision)}
    >
      {words}
    </Action>
  );
  return (
    <article class="card prompt" data-item tabIndex={0} aria-label={`${name} asks to use ${tool}`}>
      <header>
        <strong>{plainLine(name)}</strong>
        <span>
          asks to use <code class="tool">{plainLine(tool) || "a tool without a name"}</code>
        </span>
        <span class="grow" />
        <span class="soft nowrap">
          waits <Ago at={since} /> · {leftText(deadline, clock.value)}
        </span>
      </header>
      <PromptInput tool={tool} input={prompt.input} />
      {given.value !== undefined && <p class="soft">{DONE[given.value]}. It leaves this list when its host says so.</p>}
      {given.value === undefined && home.isNear && (
        <p class="soft">It is on this machine, and answered on its own page, or in a shell.</p>
      )}
      {given.value === undefined && !home.isNear && (
        <p class="buttons">
          {answer("allow", "Allow", "primary")}
          {answer("deny", "Deny", "plain")}
        </p>
      )}
    </article>
  );
}

/** FP1 */
async function answered({ id: home, host }: FleetHome, prompt: string, decision: Decision): Promise<Result<unknown>> {
  const asked = await call("fleet.ask", { home, prompt, decision });
  if (!asked.ok) return asked;
  const { id } = asked.value;
  for (const until = now() + WAIT_MS; now() < until; await new Promise<void>((done) => void after(LOOK_MS, done))) {
    const found = await call("fleet.reply", { home, id });
    if (!found.ok) return found;
    if (found.value.reply !== null) return ok(undefined);
  }
  const message = `${plainLine(host)} has not said what became of the answer: it is not known.`;
  return refused("fleet-silent", message, "Give it again: it is the same answer.");
}
