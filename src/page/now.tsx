// Now, the first view: what waits for a person, then what runs, then what has just ended.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { AgentRow, CrashedAgent } from "./agent/agents.tsx";
import { PromptCard } from "./agent/prompt-card.tsx";
import { followPrompts, shownPrompts } from "./agent/shown-prompts.ts";
import { followWanted } from "./agent/wanted-prompt.ts";
import { Empty, Section } from "./parts/frame.tsx";
import { feeds } from "./state/session.ts";
import { waiting, waitingCount } from "./state/waiting.ts";
import { LostTerminal } from "./terminal/lost-terminal.tsx";
import { FailedItems } from "./workflow/failed-items.tsx";
import { EndedRun, FailedRun, RunRow, UncertainStep } from "./workflow/runs.tsx";

/** A person looks back a little; the command line lists all. */
const ENDED = 8;
const GOING = ["queued", "running", "waiting"];

export function Now(): JSX.Element {
  return (
    <div class="view">
      <h1>Now</h1>
      <Waits />
      <Runs />
      <Ended />
    </div>
  );
}

function Waits(): JSX.Element {
  useEffect(followPrompts, []);
  useEffect(followWanted, []);
  const { uncertain, failed, items, agents, terminals, troubles } = waiting.value;
  const isKnown = feeds.prompts.value.value !== undefined && feeds.runs.value.value !== undefined;
  const refusal = feeds.prompts.refusal.value ?? feeds.runs.refusal.value;
  return (
    <Section title="Waits for you" many={waitingCount.value}>
      {waitingCount.value === 0 && (
        <Empty>{isKnown ? "Nothing waits for you." : (refusal?.message ?? "Looking…")}</Empty>
      )}
      {shownPrompts.value.map(({ prompt, isOpen }) => (
        <PromptCard key={prompt.id} prompt={prompt} isOpen={isOpen} />
      ))}
      {uncertain.map(({ run, need }) => (
        <UncertainStep key={need.attempt} run={run} need={need} />
      ))}
      {failed.map((run) => (
        <FailedRun key={run.id} run={run} />
      ))}
      {items.map((run) => (
        <FailedItems key={run.id} run={run} />
      ))}
      {agents.map((agent) => (
        <CrashedAgent key={agent.id} agent={agent} />
      ))}
      {terminals.map((terminal) => (
        <LostTerminal key={terminal.id} terminal={terminal} />
      ))}
      {troubles.map(({ what, next }) => (
        <article key={what} class="card warn" data-item tabIndex={-1} aria-label={what}>
          <p>{what}</p>
          <p class="soft">
            Next: <code>{next}</code>
          </p>
        </article>
      ))}
    </Section>
  );
}

function Runs(): JSX.Element {
  const runs = (feeds.runs.value.value ?? []).filter(({ state }) => GOING.includes(state));
  const agents = (feeds.agents.value.value ?? []).filter(({ state }) => state !== "terminated" && state !== "crashed");
  return (
    <Section title="Running" many={runs.length + agents.length}>
      {runs.length + agents.length === 0 && <Empty>No workflow runs, and no agent is there.</Empty>}
      <ul class="rows">
        {runs.map((run) => (
          <RunRow key={run.id} run={run} />
        ))}
        {agents.map((agent) => (
          <AgentRow key={agent.id} agent={agent} />
        ))}
      </ul>
    </Section>
  );
}

function Ended(): JSX.Element {
  const runs = (feeds.runs.value.value ?? []).filter(({ state }) => !GOING.includes(state) && state !== "uncertain");
  return (
    <Section title="Just ended">
      {runs.length === 0 && <Empty>No workflow has ended yet.</Empty>}
      <ul class="rows">
        {runs.slice(0, ENDED).map((run) => (
          <EndedRun key={run.id} run={run} />
        ))}
      </ul>
    </Section>
  );
}
