// The switches of notifications: everything for a time, each lane, and each agent with all that it starts.
import type { JSX } from "preact";
import { plainLine } from "../../base/visible.ts";
import { DEFAULT_LANE, type Mute, type Mutes, muteOf } from "../../core/notify/mutes.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import type { Params } from "../../wire/rpc/params.ts";
import { Action } from "../parts/action.tsx";
import { call, clock, feeds } from "../state/session.ts";
import { leftText } from "../words.ts";
import { calls, look } from "./calling.ts";

const HOUR_MS = 3_600_000;

export function Switches(): JSX.Element | null {
  if (calls.value === undefined) return null;
  const { muted, mutes = muted.map((key): Mute => ({ of: "agent", key, until: null })) } = calls.value;
  const agents = (feeds.agents.value.value ?? []).filter(({ state }) => state !== "terminated");
  const lanes = lanesOf(agents, mutes);
  return (
    <ul class="rows switches" aria-label="Who may call">
      <Everything mute={mutes.find(({ of }) => of === "all")} />
      {lanes.map((lane) => (
        <LaneSwitch key={lane} lane={lane} mutes={mutes} />
      ))}
      {agents.map((agent) => (
        <AgentSwitch key={agent.id} agent={agent} mutes={mutes} agents={agents} />
      ))}
    </ul>
  );
}

/** None if all agents are in the one that nobody chose: that would be the switch for everything once more. */
function lanesOf(agents: readonly ListedAgent[], mutes: Mutes): string[] {
  const muted = mutes.filter(({ of }) => of === "lane").map(({ key }) => key);
  const lanes = [...new Set([...agents.map(({ lane = DEFAULT_LANE }) => lane), ...muted])].sort();
  return lanes.length === 1 && lanes[0] === DEFAULT_LANE && muted.length === 0 ? [] : lanes;
}

type Whom = Pick<Params<"notify.mute">, "agent" | "lane" | "all">;
type SwitchProps = {
  readonly whom: Whom;
  readonly name: string;
  readonly muted: boolean;
  readonly forMs?: number;
  readonly children: string;
};

/** A button that mutes, or lets call again. */
function Switch({ whom, name, muted, forMs, children }: SwitchProps): JSX.Element {
  return (
    <Action
      needs="notify.mute"
      label={muted ? `${children}: ${name}` : `Let ${name} call`}
      run={() => call("notify.mute", { ...whom, muted, ...(forMs !== undefined && { forMs }) })}
      done={() => void look()}
    >
      {children}
    </Action>
  );
}

function Everything({ mute }: { readonly mute: Mute | undefined }): JSX.Element {
  const props = { whom: { all: true }, name: "everything" };
  return (
    <li class="row" data-item tabIndex={-1}>
      <strong class="grow">Everything</strong>
      <span class="soft">{stateOf(mute)}</span>
      {isOver(mute) ? (
        <span class="buttons">
          <Switch {...props} muted forMs={HOUR_MS}>
            Mute for 1 h
          </Switch>
          <Switch {...props} muted forMs={8 * HOUR_MS}>
            Mute for 8 h
          </Switch>
        </span>
      ) : (
        <Switch {...props} muted={false}>
          Unmute
        </Switch>
      )}
    </li>
  );
}

/** The home drops it within seconds; what is shown does not wait for that. */
function isOver(mute: Mute | undefined): boolean {
  return mute === undefined || (mute.until !== null && Date.parse(mute.until) <= clock.value);
}

function stateOf(mute: Mute | undefined): string {
  if (mute === undefined || isOver(mute)) return "may call";
  return mute.until === null ? "muted" : `muted, ${leftText(mute.until, clock.value)}`;
}

function LaneSwitch({ lane, mutes }: { readonly lane: string; readonly mutes: Mutes }): JSX.Element {
  const mute = mutes.find(({ of, key }) => of === "lane" && key === lane);
  const shown = plainLine(lane);
  return (
    <li class="row" data-item tabIndex={-1}>
      <span class="kind">lane</span>
      <strong class="grow cut">{shown}</strong>
      <span class="soft">{stateOf(mute)}</span>
      <Switch whom={{ lane }} name={`lane ${shown}`} muted={isOver(mute)}>
        {isOver(mute) ? "Mute" : "Unmute"}
      </Switch>
    </li>
  );
}

type AgentProps = {
  readonly agent: ListedAgent;
  readonly mutes: Mutes;
  readonly agents: readonly ListedAgent[];
};

function AgentSwitch({ agent, mutes, agents }: AgentProps): JSX.Element {
  const { id, name } = agent;
  const parentOf = (one: string) => agents.find((other) => other.id === one)?.parent ?? null;
  const own = mutes.find(({ of, key }) => of === "agent" && key === id);
  const other = isOver(own)
    ? muteOf(
        mutes.filter((one) => !isOver(one)),
        agent,
        parentOf,
      )
    : undefined;
  const shown = plainLine(name);
  return (
    <li class="row" data-item tabIndex={-1}>
      <span class="kind">agent</span>
      <strong class="grow cut">{shown}</strong>
      <span class="soft">{other === undefined ? stateOf(own) : `muted, like ${LIKE[other.of]}`}</span>
      {other === undefined && (
        <Switch whom={{ agent: id }} name={isOver(own) ? `${shown}, and what it starts` : shown} muted={isOver(own)}>
          {isOver(own) ? "Mute" : "Unmute"}
        </Switch>
      )}
    </li>
  );
}

const LIKE = { agent: "its parent", lane: "its lane", all: "everything" } as const;
