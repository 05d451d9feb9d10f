// One agent: what it does, what waits for it and for you, its conversation, and what can be done with it.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { plainLine } from "../../base/visible.ts";
import { usageText } from "../../core/agent/usage.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import { Action, Lead } from "../parts/action.tsx";
import { Empty, localised, State } from "../parts/frame.tsx";
import { hashOf } from "../state/route.ts";
import { call, canAct, clock, feeds, refresh } from "../state/session.ts";
import { About } from "./agent-about.tsx";
import { askNewAgent, askTerminate } from "./agent-forms.tsx";
import { AgentTree } from "./agent-tree.tsx";
import { TONES } from "./agents.tsx";
import { Conversation } from "./conversation-view.tsx";
import { PromptCard } from "./prompt-card.tsx";
import { SendBox } from "./send-box.tsx";
import { followPrompts, shownPrompts } from "./shown-prompts.ts";
import { possible, turnText } from "./tree.ts";

export function AgentView({ id, at }: { readonly id: string; readonly at: string | undefined }): JSX.Element {
  const { agent, isMissing } = useAgent(id);
  if (agent === undefined)
    return (
      <div class="view">
        <h1>Agent</h1>
        <Empty>
          {isMissing ? `There is no agent ${plainLine(id)}.` : "Looking…"}{" "}
          <a href={hashOf({ view: "agents" })}>All agents</a>
        </Empty>
      </div>
    );
  const seq = at !== undefined && /^\d{1,15}$/.test(at) ? Number(at) : undefined;
  return (
    <div class="agent-view">
      <aside aria-label="Tree">
        <AgentTree agents={feeds.agents.value.value ?? []} here={agent.id} />
      </aside>
      <div class="agent">
        <Bar agent={agent} />
        <Troubles agent={agent} />
        <Prompts agent={agent} />
        <About agent={agent} />
        <Conversation key={agent.id} id={agent.id} name={plainLine(agent.name)} at={seq} />
        {possible(agent).send && <SendBox agent={agent} />}
      </div>
    </div>
  );
}

/** One that is not in the list has ended, or is older than what the list has. */
function useAgent(id: string): { readonly agent: ListedAgent | undefined; readonly isMissing: boolean } {
  const found = useSignal<ListedAgent | undefined>(undefined);
  const isMissing = useSignal(false);
  const agents = feeds.agents.value.value;
  const listed = agents?.find((one) => one.id === id);
  const isUp = canAct.value;
  useEffect(() => {
    if (!isUp || agents === undefined || listed !== undefined) return;
    void call("agent.find", { key: id }).then((answer) => {
      if (answer.ok) found.value = answer.value;
      isMissing.value = !answer.ok;
    });
  }, [id, isUp, agents]);
  return { agent: listed ?? found.value, isMissing: isMissing.value };
}

function Bar({ agent }: { readonly agent: ListedAgent }): JSX.Element {
  const { state, provider, model, usage } = agent;
  return (
    <div class="toolbar" role="toolbar" aria-label="Agent">
      <a href={hashOf({ view: "agents" })} aria-label="All agents">
        ←
      </a>
      <h1>{plainLine(agent.name)}</h1>
      <State word={state} tone={TONES[state]} />
      <span class="soft nowrap">
        {[model ?? provider, turnText(agent, clock.value), usage && usageText(usage)].filter(Boolean).join(" · ")}
      </span>
      <span class="grow" />
      <Buttons agent={agent} />
    </div>
  );
}

function Buttons({ agent }: { readonly agent: ListedAgent }): JSX.Element {
  const { id } = agent;
  const name = plainLine(agent.name);
  const can = possible(agent);
  return (
    <>
      {can.interrupt && (
        <Action
          needs="agent.interrupt"
          label={`Interrupt ${name}`}
          run={() => call("agent.interrupt", { id })}
          success={`${name} is asked to stop its turn.`}
          done={() => refresh("agents")}
        >
          Interrupt
        </Action>
      )}
      {can.retry && (
        <Action
          needs="agent.retry"
          label={`Try again: ${name}`}
          run={() => call("agent.retry", { id })}
          success={`${name} tries again.`}
          done={() => refresh("agents")}
        >
          Try again
        </Action>
      )}
      {can.terminate && (
        <Lead needs="web.new-agent" label={`New below ${name}…`} to={() => askNewAgent(agent)}>
          New below…
        </Lead>
      )}
      {can.terminate && (
        <Lead needs="agent.terminate" kind="danger" label={`End ${name}…`} to={() => askTerminate(agent)}>
          End…
        </Lead>
      )}
    </>
  );
}

function Troubles({ agent: { note, failure } }: { readonly agent: ListedAgent }): JSX.Element {
  return (
    <>
      {note !== null && <p class="note warn">{localised(plainLine(note))}</p>}
      {failure !== undefined && (
        <p class="note warn">
          Turn {failure.turn} failed: {localised(plainLine(failure.reason))}
        </p>
      )}
    </>
  );
}

/** Answered here as in Now. */
function Prompts({ agent: { id } }: { readonly agent: ListedAgent }): JSX.Element {
  useEffect(followPrompts, []);
  return (
    <>
      {shownPrompts.value
        .filter(({ prompt }) => prompt.agent === id)
        .map(({ prompt, isOpen }) => (
          <PromptCard key={prompt.id} prompt={prompt} isOpen={isOpen} />
        ))}
    </>
  );
}
