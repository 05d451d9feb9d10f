// Agents in Now: those that work or rest, and those that crashed.
import type { JSX } from "preact";
import { plainLine } from "../../base/visible.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import { Action } from "../parts/action.tsx";
import { Ago, localised, State, type Tone } from "../parts/frame.tsx";
import { hashOf } from "../state/route.ts";
import { call, refresh } from "../state/session.ts";
import { count, shortPath } from "../words.ts";

export const TONES: Readonly<Record<ListedAgent["state"], Tone>> = {
  ...{ idle: "soft", working: "good", waiting: "warn", suspended: "soft", sleeping: "info" },
  ...{ crashed: "bad", terminated: "soft" },
};

export function AgentRow({ agent }: { readonly agent: ListedAgent }): JSX.Element {
  const { name, state, cwd, provider, inbox, note, turnStartedAt, createdAt } = agent;
  const more = [note, inbox > 0 ? count(inbox, "message") : null].filter((text) => text !== null);
  return (
    <li class="row" data-item tabIndex={-1}>
      <span class="kind">agent</span>
      <a href={hashOf({ view: "agent", id: agent.id })}>
        <strong>{plainLine(name)}</strong>
      </a>
      <State word={state} tone={TONES[state]} />
      <span class="soft grow" title={cwd}>
        {[provider, shortPath(cwd), ...more].map((text) => localised(text)).join(" · ")}
      </span>
      <Ago at={turnStartedAt ?? createdAt} />
    </li>
  );
}

export function CrashedAgent({ agent }: { readonly agent: ListedAgent }): JSX.Element {
  const { id, name, note } = agent;
  return (
    <article class="card bad" data-item tabIndex={-1} aria-label={`Agent ${name} has crashed`}>
      <header>
        <strong>Agent {name} has crashed</strong>
        <Ago at={agent.turnStartedAt ?? agent.createdAt} />
      </header>
      {note !== null && <p class="evidence">{localised(note)}</p>}
      <p class="buttons">
        <Action
          kind="primary"
          needs="agent.retry"
          run={() => call("agent.retry", { id })}
          success={`${name} tries again.`}
          done={() => refresh("agents")}
        >
          Try again
        </Action>
        <Action
          needs="agent.terminate"
          run={() => call("agent.terminate", { id, reason: "ended by a person in the page" })}
          success={`${name} is ended.`}
          done={() => refresh("agents")}
        >
          End it
        </Action>
      </p>
    </article>
  );
}
