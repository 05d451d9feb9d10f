// Being called when an agent waits, in Access: this browser's state, a test, and which agents call nobody.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { plainLine } from "../../base/visible.ts";
import { agentsOf } from "../../core/notify/mutes.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import { Action } from "../parts/action.tsx";
import { Empty, Section, State } from "../parts/frame.tsx";
import { call, canAct, feeds } from "../state/session.ts";
import { calling, calls, look, turnOff, turnOn } from "./calling.ts";

export function Notifications(): JSX.Element {
  useEffect(() => void (canAct.value && look()), [canAct.value]);
  return (
    <Section title="Notifications">
      <p class="soft">
        A prompt that waits for you is shown by this browser, also while the page is closed, and replaced when it is
        answered.
      </p>
      <ThisBrowser />
      <Hours />
      <Agents />
    </Section>
  );
}

function ThisBrowser(): JSX.Element {
  const state = calling.value;
  if (state.kind === "looking") return <Empty>Looking…</Empty>;
  if (state.kind === "impossible") return <p class="note warn">{state.why}</p>;
  if (state.kind === "off")
    return (
      <div class="row">
        <span class="grow">
          <State word="This browser is not called" tone="soft" />
        </span>
        <Action needs="push.subscribe" kind="primary" run={turnOn} success="This browser is called from now on.">
          Turn on
        </Action>
      </div>
    );
  return (
    <div class="row">
      <span class="grow">
        <State word="This browser is called" tone="good" />
      </span>
      <Action needs="push.test" run={() => call("push.test", {})} success="It was sent: a notification should appear.">
        Test
      </Action>
      <Action needs="push.unsubscribe" run={turnOff} success="This browser is not called any more.">
        Turn off
      </Action>
    </div>
  );
}

function Hours(): JSX.Element | null {
  const { quiet = "", isQuiet = false, mute = [] } = calls.value ?? {};
  if (quiet === "" && mute.length === 0) return null;
  return (
    <p class="soft">
      {quiet !== "" && `Quiet hours are ${quiet}${isQuiet ? ", so nobody is called now" : ""}. `}
      {mute.length > 0 && `The configuration mutes ${mute.join(", ")}.`}
    </p>
  );
}

/** One switch for each agent, and for what it starts. */
function Agents(): JSX.Element | null {
  const muted = calls.value?.muted ?? [];
  const agents = (feeds.agents.value.value ?? []).filter(({ state }) => state !== "terminated");
  if (calls.value === undefined || agents.length === 0) return null;
  return (
    <ul class="rows" aria-label="Agents that may call">
      {agents.map((agent) => (
        <AgentSwitch key={agent.id} agent={agent} muted={muted} agents={agents} />
      ))}
    </ul>
  );
}

type SwitchProps = {
  readonly agent: ListedAgent;
  readonly muted: readonly string[];
  readonly agents: readonly ListedAgent[];
};

function AgentSwitch({ agent, muted, agents }: SwitchProps): JSX.Element {
  const { id, name, parent } = agent;
  const isMuted = muted.includes(id);
  const byParent =
    !isMuted &&
    agentsOf(parent, (one) => agents.find((other) => other.id === one)?.parent ?? null).some((one) =>
      muted.includes(one),
    );
  const shown = plainLine(name);
  return (
    <li class="row" data-item tabIndex={-1}>
      <strong class="grow cut">{shown}</strong>
      <span class="soft">{isMuted ? "muted" : byParent ? "muted, like its parent" : "may call"}</span>
      {!byParent && (
        <Action
          needs="notify.mute"
          label={isMuted ? `Let ${shown} call` : `Mute ${shown}, and what it starts`}
          run={() => call("notify.mute", { agent: id, muted: !isMuted })}
          done={() => void look()}
        >
          {isMuted ? "Unmute" : "Mute"}
        </Action>
      )}
    </li>
  );
}
