// Terminals: a grid of live pictures, by lane.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { endedText } from "../../base/exit-code.ts";
import type { AgentInFront, AgentState } from "../../core/terminal/agent-in-front.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import { Action, Lead } from "../parts/action.tsx";
import { Ago, Empty, Section, State, type Tone } from "../parts/frame.tsx";
import { hashOf } from "../state/route.ts";
import { call, feeds, refresh } from "../state/session.ts";
import { commandText, programText, shortPath } from "../words.ts";
import { lanesOf } from "./lanes.ts";
import { LostTerminal } from "./lost-terminal.tsx";
import { askNewTerminal } from "./terminal-forms.tsx";
import { Thumbnail } from "./thumbnail.ts";

export function Terminals(): JSX.Element {
  const terminals = feeds.terminals.value.value;
  return (
    <div class="view wide">
      <div class="head">
        <h1>Terminals</h1>
        <Lead needs="web.new" kind="primary" to={() => askNewTerminal("main")}>
          New terminal
        </Lead>
      </div>
      {terminals === undefined && <Empty>Looking…</Empty>}
      {terminals?.length === 0 && (
        <Empty>
          No terminals yet. <code>holdfast new</code> opens one in your shell.
        </Empty>
      )}
      {lanesOf(terminals ?? []).map(({ lane, open, lost, ended }) => (
        <Section key={lane} title={lane} many={open.length}>
          <ul class="grid">
            {open.map((terminal) => (
              <Tile key={terminal.id} terminal={terminal} />
            ))}
          </ul>
          {lost.map((terminal) => (
            <LostTerminal key={terminal.id} terminal={terminal} />
          ))}
          <ul class="rows">
            {ended.map((terminal) => (
              <Ended key={terminal.id} terminal={terminal} />
            ))}
          </ul>
        </Section>
      ))}
    </div>
  );
}

export function stateOf({ state, trouble, signal }: BriefTerminal): { readonly word: string; readonly tone: Tone } {
  if (trouble !== undefined) return { word: "in trouble", tone: "bad" };
  if (signal !== undefined) return { word: `gets ${signal.name}`, tone: "warn" };
  if (state.kind === "running") return { word: "running", tone: "good" };
  if (state.kind === "uncertain") return { word: "not restarted", tone: "bad" };
  return state.kind === "starting" ? { word: "starting", tone: "warn" } : { word: "ended", tone: "soft" };
}

function Tile({ terminal }: { readonly terminal: BriefTerminal }): JSX.Element {
  const { id, name, recipe, restored, lastOutputAt, clients, trouble, agent } = terminal;
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current === null) return undefined;
    const thumbnail = new Thumbnail(canvas.current, id);
    return () => thumbnail.close();
  }, [id]);
  const state = stateOf(terminal);
  const cwd = restored?.cwd ?? recipe.cwd;
  return (
    <li class="tile">
      <canvas ref={canvas} />
      <p class="caption">
        <a data-item href={hashOf({ view: "terminal", id })}>
          {name}
        </a>
        <State {...state} />
        {agent !== undefined && <AgentChip agent={agent} />}
        <span class="soft grow">{clients > 0 ? `${clients} attached` : ""}</span>
        <Ago at={lastOutputAt} />
      </p>
      <p class="soft path" title={trouble ?? `${commandText(recipe.argv)} in ${cwd}`}>
        {trouble ?? `${programText(recipe.argv)} · ${shortPath(cwd, 28)}`}
      </p>
    </li>
  );
}

const AGENT_TONES: Readonly<Record<AgentState, Tone>> = {
  working: "good",
  waiting: "warn",
  idle: "soft",
  unknown: "soft",
};

/** The agent CLI in front of a terminal. Its conversation is for those who point at it: the id is long. */
function AgentChip({ agent: { name, state, session } }: { readonly agent: AgentInFront }): JSX.Element {
  const word = state === "waiting" ? `${name} waits for you` : state === "unknown" ? name : `${name} ${state}`;
  return (
    <span title={session === undefined ? "Its conversation is not known" : `Conversation ${session}`}>
      <State word={word} tone={AGENT_TONES[state]} />
    </span>
  );
}

function Ended({ terminal }: { readonly terminal: BriefTerminal }): JSX.Element | null {
  const { id, name, state } = terminal;
  if (state.kind !== "ended") return null;
  return (
    <li class="row">
      <a data-item href={hashOf({ view: "terminal", id })}>
        <strong>{name}</strong>
      </a>
      <span class="soft grow">{endedText(state)}</span>
      <Action
        label={`Start again: ${name}`}
        needs="terminal.restore"
        run={() => call("terminal.restore", { id, way: "recipe" })}
        success={`${name} runs its command again.`}
        done={() => refresh("terminals")}
      >
        Start again
      </Action>
      <Action
        label={`Remove ${name}`}
        needs="terminal.remove"
        run={() => call("terminal.remove", { id })}
        success={`${name} is removed.`}
        done={() => refresh("terminals")}
      >
        Remove
      </Action>
      <Ago at={state.at} />
    </li>
  );
}
