// Agents: the tree of those that live, the messages that flow between them, and the rules.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { plainLine } from "../../base/visible.ts";
import { HOLDFAST, USER } from "../../core/agent/messages.ts";
import { Lead } from "../parts/action.tsx";
import { Ago, Empty, Section } from "../parts/frame.tsx";
import { hashOf } from "../state/route.ts";
import { feeds } from "../state/session.ts";
import { askNewAgent } from "./agent-forms.tsx";
import { AgentTree } from "./agent-tree.tsx";
import { flow, followMessages } from "./message-flow.ts";
import { Rules } from "./rules.tsx";

export function AgentsView(): JSX.Element {
  const agents = feeds.agents.value.value;
  const refusal = feeds.agents.refusal.value;
  useEffect(followMessages, []);
  return (
    <div class="view">
      <div class="head">
        <h1>Agents</h1>
        <Lead needs="web.new-agent" kind="primary" to={() => askNewAgent(null)}>
          New agent
        </Lead>
      </div>
      <Section title="Tree" many={agents?.length ?? 0}>
        {agents === undefined && <Empty>{refusal?.message ?? "Looking…"}</Empty>}
        {agents?.length === 0 && (
          <Empty>
            No agent is there. <code>holdfast agent new</code> starts one in your shell.
          </Empty>
        )}
        <AgentTree agents={agents ?? []} />
      </Section>
      <Flow />
      <Rules />
    </div>
  );
}

function nameOf(id: string): string {
  if (id === USER) return "You";
  if (id === HOLDFAST) return "Holdfast";
  return plainLine(feeds.agents.value.value?.find((one) => one.id === id)?.name ?? id.slice(0, 12));
}

function Flow(): JSX.Element {
  return (
    <Section title="Messages">
      {flow.value.length === 0 && <Empty>No message was sent yet.</Empty>}
      <ul class="rows flow">
        {flow.value.map(({ id, sender, recipient, kind, text, at }) => (
          <li key={id} class="row">
            <span class="kind">{kind}</span>
            <strong>
              {nameOf(sender)} → <a href={hashOf({ view: "agent", id: recipient })}>{nameOf(recipient)}</a>
            </strong>
            <span class="soft grow">{plainLine(text)}</span>
            <Ago at={at} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
