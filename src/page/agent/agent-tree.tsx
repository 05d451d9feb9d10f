// The tree of agents, as rows that are indented: state, model, what it used, time in turn, what waits, and why a turn
// failed.
import type { JSX } from "preact";
import { plainLine } from "../../base/visible.ts";
import { usageText } from "../../core/agent/usage.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import { localised, State } from "../parts/frame.tsx";
import { hashOf } from "../state/route.ts";
import { clock } from "../state/session.ts";
import { count, shortPath } from "../words.ts";
import { TONES } from "./agents.tsx";
import { treeOf, turnText } from "./tree.ts";

/** Deeper than people nest them by hand; below, the indent stays. */
const MAX_INDENT = 6;

export function AgentTree({ agents, here }: { readonly agents: readonly ListedAgent[]; readonly here?: string }) {
  return (
    <ul class="rows tree">
      {treeOf(agents).map(({ agent, depth }) => (
        <li
          key={agent.id}
          class={`row depth-${Math.min(depth, MAX_INDENT)}`}
          {...(agent.id === here && { "aria-current": "true" as const })}
        >
          <Branch agent={agent} depth={depth} />
        </li>
      ))}
    </ul>
  );
}

function Branch({ agent, depth }: { readonly agent: ListedAgent; readonly depth: number }): JSX.Element {
  const { id, name, state, provider, model, cwd, inbox, prompts, note, failure, usage } = agent;
  const trouble = note ?? (failure && `Turn ${failure.turn} failed: ${failure.reason}`);
  const waits = [prompts.length > 0 && count(prompts.length, "prompt"), inbox > 0 && count(inbox, "message")];
  return (
    <>
      <a data-item href={hashOf({ view: "agent", id })}>
        {depth > 0 && <span class="soft hidden-text">level {depth + 1} </span>}
        <strong>{plainLine(name)}</strong>
      </a>
      <State word={state} tone={TONES[state]} />
      <span class="soft grow" title={cwd}>
        {[model ?? provider, usage && usageText(usage), shortPath(cwd, 28), ...waits].filter(Boolean).join(" · ")}
      </span>
      <span class="nowrap soft">{turnText(agent, clock.value)}</span>
      {trouble !== undefined && (
        <p class={`about ${state === "crashed" || note === null ? "bad" : "soft"}`}>{localised(plainLine(trouble))}</p>
      )}
    </>
  );
}
