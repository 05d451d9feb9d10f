// One terminal: the real thing, and what can be done with it.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { endedText } from "../../base/exit-code.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import { keepChoice, readChoice } from "../browser.ts";
import { Action, Lead } from "../parts/action.tsx";
import { Empty, State } from "../parts/frame.tsx";
import { mayType } from "../state/rights.ts";
import { hashOf } from "../state/route.ts";
import { call, feeds, refresh } from "../state/session.ts";
import { KeyBar } from "./key-bar.tsx";
import { LostTerminal } from "./lost-terminal.tsx";
import { askKill, askMove, askRename } from "./terminal-forms.tsx";
import type { SessionState } from "./terminal-session.ts";
import { stateOf } from "./terminals.tsx";
import { Window } from "./window.ts";

export const READER = "screen-reader";

export function TerminalView({ id }: { readonly id: string }): JSX.Element {
  const terminal = feeds.terminals.value.value?.find((one) => one.id === id || one.name === id);
  if (terminal?.state.kind === "uncertain")
    return (
      <div class="view">
        <h1>{terminal.name}</h1>
        <LostTerminal terminal={terminal} />
      </div>
    );
  if (terminal === undefined && feeds.terminals.value.value !== undefined)
    return (
      <div class="view">
        <h1>Terminal</h1>
        <Empty>
          There is no terminal {id}. <a href={hashOf({ view: "terminals" })}>All terminals</a>
        </Empty>
      </div>
    );
  // Without a list, while the daemon is down, the id alone is enough to attach.
  return <Attached key={terminal?.id ?? id} id={terminal?.id ?? id} terminal={terminal} />;
}

function Attached({
  id,
  terminal,
}: {
  readonly id: string;
  readonly terminal: BriefTerminal | undefined;
}): JSX.Element {
  const canType = mayType.value;
  const place = useRef<HTMLDivElement>(null);
  const window = useSignal<Window | undefined>(undefined);
  const state = useSignal<SessionState>({ kind: "connecting", why: "" });
  const isSearching = useSignal(false);
  const link = useSignal<string | undefined>(undefined);
  /** A window of a program that has ended stays with it; the next one gets another. */
  const restarts = useSignal(0);
  const isRead = useSignal(readChoice(READER) === "on");
  useEffect(() => {
    if (place.current === null || canType === undefined) return undefined;
    const made = new Window(
      place.current,
      { id, readOnly: !canType },
      {
        state: (now) => (state.value = now),
        search: () => (isSearching.value = true),
        link: (address) => (link.value = address),
        leave: () => document.querySelector<HTMLElement>(".toolbar a")?.focus(),
      },
    );
    window.value = made;
    return () => made.close();
  }, [id, canType, restarts.value]);
  useEffect(() => window.value?.setReader(isRead.value), [isRead.value, window.value]);
  const setRead = (on: boolean) => {
    isRead.value = on;
    keepChoice(READER, on ? "on" : "off");
  };
  return (
    <div class="terminal-view">
      <div class="toolbar" role="toolbar" aria-label="Terminal">
        <a href={hashOf({ view: "terminals" })} aria-label="All terminals">
          ←
        </a>
        <h1>{terminal?.name ?? id}</h1>
        <Connection state={state.value} terminal={terminal} />
        {canType === false && <span class="soft">look only: this device may not type</span>}
        <span class="grow" />
        <button type="button" class="button" onClick={() => (isSearching.value = !isSearching.value)}>
          Search
        </button>
        <button type="button" class="button" aria-pressed={isRead.value} onClick={() => setRead(!isRead.value)}>
          Screen reader
        </button>
        <a class="button" href={hashOf({ view: "terminal", id: terminal?.id ?? id, at: "end" })}>
          History
        </a>
        {terminal !== undefined && <Buttons terminal={terminal} restarted={() => (restarts.value += 1)} />}
      </div>
      {isSearching.value && <Search window={window.value} close={() => (isSearching.value = false)} />}
      <section class="screen" ref={place} aria-label={`Screen of ${terminal?.name ?? id}`} />
      {canType === true && window.value !== undefined && <KeyBar window={window.value} />}
      {link.value !== undefined && (
        <p class="link-hint">
          {link.value} <span class="soft">Ctrl-click opens it</span>
        </p>
      )}
    </div>
  );
}

function Connection({ state, terminal }: ConnectionProps): JSX.Element {
  if (state.kind === "ended") return <State word={endedText(state.exit)} tone="soft" />;
  if (state.kind === "connecting") return <State word={state.why === "" ? "connecting…" : state.why} tone="warn" />;
  return terminal === undefined ? <State word="attached" tone="good" /> : <State {...stateOf(terminal)} />;
}

type ConnectionProps = { readonly state: SessionState; readonly terminal: BriefTerminal | undefined };

function Buttons({ terminal, restarted }: ButtonsProps): JSX.Element {
  const { id, name, state } = terminal;
  return (
    <>
      <Lead needs="terminal.rename" to={() => askRename(terminal)}>
        Rename…
      </Lead>
      <Lead needs="terminal.move" to={() => askMove(terminal)}>
        Move…
      </Lead>
      {state.kind === "running" && (
        <Lead needs="terminal.signal" kind="danger" to={() => askKill(terminal)}>
          End…
        </Lead>
      )}
      {state.kind === "ended" && (
        <Action
          needs="terminal.restore"
          run={() => call("terminal.restore", { id, way: "recipe" })}
          success={`${name} runs its command again.`}
          done={() => {
            refresh("terminals");
            restarted();
          }}
        >
          Start again
        </Action>
      )}
      {state.kind === "ended" && (
        <Action
          needs="terminal.remove"
          run={() => call("terminal.remove", { id })}
          success={`${name} is removed.`}
          done={() => refresh("terminals")}
        >
          Remove
        </Action>
      )}
    </>
  );
}

type ButtonsProps = { readonly terminal: BriefTerminal; readonly restarted: () => void };

function Search({ window, close }: { readonly window: Window | undefined; readonly close: () => void }): JSX.Element {
  const text = useSignal("");
  const isFound = useSignal(true);
  const find = (way: "next" | "previous") => {
    isFound.value = text.value === "" || window?.find(text.value, way) === true;
  };
  const end = () => {
    window?.find("", "next");
    window?.focus();
    close();
  };
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        find("previous");
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") end();
      }}
    >
      <input
        aria-label="Search this terminal"
        placeholder="Search this terminal"
        ref={(input) => {
          if (text.peek() === "") input?.focus();
        }}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          find("previous");
        }}
      />
      <button type="submit" class="button">
        Previous
      </button>
      <button type="button" class="button" onClick={() => find("next")}>
        Next
      </button>
      <span class="soft" role="status">
        {isFound.value ? "" : "Not found"}
      </span>
      <button type="button" class="button" onClick={end}>
        Close
      </button>
    </form>
  );
}
