// What is folded beside an agent's conversation: its inbox, and how it was made.
// AB1. Both are fetched when they are unfolded: an operator who looks has been heard from, and a page that is only left
//      open has not looked (AH5 of daemon/agent/handlers.ts).
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { plainLine, visibleProse } from "../../base/visible.ts";
import type { Message } from "../../core/agent/events.ts";
import { usageText } from "../../core/agent/usage.ts";
import type { ListedAgent, ShownAgent } from "../../wire/rpc/agent.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { Action } from "../parts/action.tsx";
import { Ago, Empty } from "../parts/frame.tsx";
import { call, feeds } from "../state/session.ts";
import { outcome } from "../state/toasts.ts";
import { commandText } from "../words.ts";

export function About({ agent }: { readonly agent: ListedAgent }): JSX.Element {
  return (
    <div class="abouts">
      <Inbox agent={agent} />
      <Facts agent={agent} />
    </div>
  );
}

function Inbox({ agent: { id, inbox } }: { readonly agent: ListedAgent }): JSX.Element {
  const messages = useSignal<readonly Message[] | undefined>(undefined);
  const open = async (isOpen: boolean) => {
    if (!isOpen) return;
    const read = await outcome(allRows({ call }, "agent.inbox", { id })); // AB1
    if (read.ok) messages.value = read.value;
  };
  return (
    <details onToggle={(event) => void open(event.currentTarget.open)}>
      <summary>Inbox {inbox > 0 && <span class="many">{inbox}</span>}</summary>
      {messages.value?.length === 0 && <Empty>It has read everything.</Empty>}
      <ul class="rows">
        {messages.value?.map((message) => (
          <li key={message.message_id} class="row">
            <span class="kind">{message.kind}</span>
            <strong>{senderText(message)}</strong>
            <span class="soft grow cut" title={message.payload}>
              {plainLine(message.payload.slice(0, 300))}
            </span>
            <Ago at={message.timestamp} />
            <Action
              needs="agent.drop"
              label={`Drop the message from ${senderText(message)}`}
              run={() => call("agent.drop", { id, messages: [message.message_id] })}
              success="The message is dropped."
              done={() => void open(true)}
            >
              Drop
            </Action>
          </li>
        ))}
      </ul>
    </details>
  );
}

function senderText({ sender }: Message): string {
  return plainLine(feeds.agents.value.value?.find(({ id }) => id === sender)?.name ?? sender.slice(0, 12));
}

function Facts({ agent: { id } }: { readonly agent: ListedAgent }): JSX.Element {
  const shown = useSignal<ShownAgent | undefined>(undefined);
  const open = async (isOpen: boolean) => {
    const read = isOpen ? await outcome(call("agent.show", { id })) : undefined; // AB1
    if (read?.ok === true) shown.value = read.value;
  };
  return (
    <details onToggle={(event) => void open(event.currentTarget.open)}>
      <summary>About</summary>
      {shown.value !== undefined && (
        <dl class="facts">
          {factsOf(shown.value).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </details>
  );
}

function factsOf(agent: ShownAgent): (readonly [name: string, value: JSX.Element | string])[] {
  const { id, lane, provider, model, cwd, createdAt, turns, pid, command, instructions, permissionMode, workspace } =
    agent;
  const facts: (readonly [string, JSX.Element | string | null])[] = [
    ["Id", <code key="id">{id}</code>],
    ["Lane", lane ?? null],
    ["Provider", provider],
    ["Model", model],
    ["Directory", <code key="cwd">{plainLine(cwd)}</code>],
    ["Command", command.length === 0 ? null : <code key="command">{plainLine(commandText(command))}</code>],
    ["Permission mode", permissionMode],
    ["Sandbox", workspace?.sandbox ? "yes" : (workspace?.unsandboxed ?? "no")],
    ["Process", pid === null ? "none" : String(pid)],
    ["Turns", String(turns)],
    ["Used", agent.usage === undefined ? null : usageText(agent.usage)],
    ["Created", <Ago key="created" at={createdAt} />],
    ["Rules", agent.rules.length === 0 ? null : String(agent.rules.length)],
    ["Reminders", agent.reminders.length === 0 ? null : agent.reminders.map(({ text }) => plainLine(text)).join(", ")],
    ["Instructions", instructions === "" ? null : <p class="prose">{visibleProse(instructions)}</p>],
    ["Result", agent.result === null ? null : <p class="prose">{visibleProse(agent.result)}</p>],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}
