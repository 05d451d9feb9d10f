// The conversation of an agent: what it was sent, what it said, the tools it used with their results, and its turns.
// CV1. It begins with the end and follows it, unless a person has scrolled away from it.
// CV2. When earlier items come in above, what a person reads stays where it is.
// CV3. Items that have not changed are not drawn again, so that a change costs what is new.
import { effect, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { noticedAgent } from "../../wire/page/notices.ts";
import { after } from "../browser.ts";
import { Empty, Words } from "../parts/frame.tsx";
import { call, canAct, listen } from "../state/session.ts";
import { isSameItem, itemsOf, type ShownItem } from "./conversation.ts";
import { ConversationItem } from "./conversation-item.tsx";
import { type HistoryPart, HistoryWindow } from "./history-window.ts";
import { type Anchor, anchorOf, isAtEnd, keepAnchor, needs } from "./scroll.ts";

type ConversationProps = { readonly id: string; readonly name: string; readonly at: number | undefined };

export function Conversation({ id, name, at }: ConversationProps): JSX.Element {
  const scroller = useRef<HTMLElement>(null);
  const window = useMemo(
    () => new HistoryWindow({ ask: (wish) => call("agent.history", { id, ...wish }), after }),
    [id],
  );
  const { shown, anchor } = useKept(window, scroller);
  useFollowing(window, id, at);
  const part = shown.value;
  useLayoutEffect(() => {
    const place = scroller.current;
    if (place === null || part === undefined) return;
    keepAnchor(place, anchor.current, part.later === null, at);
    if (place.scrollHeight <= place.clientHeight && part.earlier !== null) void window.earlier();
  }, [part]);
  const scrolled = () => {
    if (scroller.current === null || part === undefined) return;
    window.isFollowing = isAtEnd(scroller.current);
    const wanted = needs(scroller.current, part);
    if (wanted === "earlier") void window.earlier();
    if (wanted === "later") void window.goOn();
  };
  const refusal = window.refusal.value;
  return (
    <section
      class="conversation"
      ref={scroller}
      tabIndex={0}
      aria-label={`Conversation of ${name}`}
      onScroll={scrolled}
    >
      {refusal !== undefined && (
        <p class="note warn" role="alert">
          <Words text={`${refusal.message} ${refusal.hint}`} />
        </p>
      )}
      {part === undefined ? (
        refusal === undefined && <Empty>Looking…</Empty>
      ) : (
        <Items part={part} here={at} window={window} />
      )}
    </section>
  );
}

/** CV2. What is shown, and where its reader was just before it changed. */
function useKept(window: HistoryWindow, scroller: { readonly current: HTMLElement | null }) {
  const shown = useSignal<HistoryPart | undefined>(undefined);
  const anchor = useRef<Anchor>({ kind: "end" });
  useEffect(
    () =>
      effect(() => {
        const part = window.part.value;
        if (scroller.current !== null && shown.peek() !== undefined) anchor.current = anchorOf(scroller.current);
        shown.value = part;
      }),
    [window],
  );
  return { shown, anchor };
}

/** CV1 */
function useFollowing(window: HistoryWindow, id: string, at: number | undefined): void {
  const isUp = canAct.value;
  useEffect(() => {
    if (!isUp) return undefined;
    if (window.part.peek() === undefined) void window.start(at);
    else window.news();
    return listen((notice) => {
      if (noticedAgent(notice) === id) window.news();
    });
  }, [window, isUp]);
}

/** CV3. What was drawn for an item that has not changed since. */
function useDrawn(here: number | undefined): (item: ShownItem) => JSX.Element {
  const before = useRef(new Map<string, Drawn>());
  const now = new Map<string, Drawn>();
  const old = before.current;
  before.current = now;
  return (item) => {
    const known = old.get(item.key);
    const isSame = known !== undefined && isSameItem(known.item, item);
    const one = isSame ? known : { item, element: <Place key={item.key} item={item} isHere={item.seq === here} /> };
    now.set(item.key, one);
    return one.element;
  };
}

type Drawn = { readonly item: ShownItem; readonly element: JSX.Element };

function Place({ item, isHere }: { readonly item: ShownItem; readonly isHere: boolean }): JSX.Element {
  return (
    <li id={`item-${item.key}`} data-seq={item.seq} class={isHere ? "here" : ""}>
      <ConversationItem item={item} />
    </li>
  );
}

type ItemsProps = { readonly part: HistoryPart; readonly here: number | undefined; readonly window: HistoryWindow };

function Items({ part, here, window }: ItemsProps): JSX.Element {
  const items = useMemo(() => itemsOf(part.rows), [part]);
  const drawn = useDrawn(here);
  return (
    <>
      {part.earlier !== null && (
        <button type="button" class="button" onClick={() => void window.earlier()}>
          Earlier
        </button>
      )}
      {items.length === 0 && part.earlier === null && <Empty>Nothing has happened yet.</Empty>}
      <ol>{items.map((item) => drawn(item))}</ol>
      {part.later !== null && (
        <p class="buttons">
          <button type="button" class="button" onClick={() => void window.goOn()}>
            Later
          </button>
          <button type="button" class="button" onClick={() => void window.start()}>
            To the end
          </button>
        </p>
      )}
    </>
  );
}
