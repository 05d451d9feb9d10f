// Where a person is in a list that grows at both ends.
import type { HistoryPart } from "./history-window.ts";

/** At the end, which is followed; or at an item, which stays so many pixels below the upper edge. */
export type Anchor = { readonly kind: "end" } | { readonly kind: "item"; readonly id: string; readonly below: number };

/** Closer than this to an edge, more is fetched. */
const NEAR = 300;
/** A person who is so close to the end means the end. */
const AT_END = 48;

export function isAtEnd({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean {
  return scrollHeight - clientHeight - scrollTop < AT_END;
}

export function anchorOf(place: HTMLElement): Anchor {
  if (isAtEnd(place)) return { kind: "end" };
  const top = place.getBoundingClientRect().top;
  for (const item of place.querySelectorAll("li[data-seq]")) {
    const { top: at, bottom } = item.getBoundingClientRect();
    if (bottom > top) return { kind: "item", id: item.id, below: at - top };
  }
  return { kind: "end" };
}

/** `isEnd`: what is shown reaches the end. `seq`: the entry that was asked for, which is shown first. */
export function keepAnchor(place: HTMLElement, anchor: Anchor, isEnd: boolean, seq: number | undefined): void {
  const item = anchor.kind === "item" ? document.getElementById(anchor.id) : null;
  if (item !== null && anchor.kind === "item") {
    const now = item.getBoundingClientRect().top - place.getBoundingClientRect().top;
    place.scrollTop += now - anchor.below;
    return;
  }
  const wanted = seq === undefined ? null : place.querySelector(`li[data-seq="${seq}"]`);
  if (wanted !== null) wanted.scrollIntoView({ block: "center" });
  else if (isEnd) place.scrollTop = place.scrollHeight;
}

/** What is to be fetched when a person has scrolled. */
export function needs(place: HTMLElement, { earlier, later }: HistoryPart): "earlier" | "later" | undefined {
  if (place.scrollTop < NEAR && earlier !== null) return "earlier";
  const isBelow = place.scrollHeight - place.clientHeight - place.scrollTop < NEAR;
  return isBelow && later !== null ? "later" : undefined;
}
