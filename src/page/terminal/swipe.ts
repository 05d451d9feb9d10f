// A finger that moves over a terminal scrolls it: its history, or as a wheel whatever the program does with one.
// SW1. Only one finger, and only up and down: two zoom, and sideways the browser scrolls a screen that is too wide.
// SW2. Xterm takes a wheel that a script turns for the program, and not for its own history: that is scrolled by lines.
import type { Terminal } from "@xterm/xterm";

/** Less than this is a tap. */
const TAP_PX = 8;

/** Returns the function that ends it. */
export function followSwipes(place: HTMLElement, terminal: Terminal): () => void {
  let from: { readonly x: number; y: number; isOn: boolean } | undefined;
  const begin = ({ touches }: TouchEvent) => {
    const [touch] = touches;
    from = touches.length === 1 && touch ? { x: touch.clientX, y: touch.clientY, isOn: false } : undefined; // SW1
  };
  const move = (event: TouchEvent) => {
    const [touch] = event.touches;
    if (from === undefined || touch === undefined) return;
    const by = from.y - touch.clientY;
    from.isOn ||= Math.abs(by) > TAP_PX && Math.abs(by) > Math.abs(from.x - touch.clientX);
    if (!from.isOn) return;
    event.preventDefault();
    from.y -= scrolled(place, terminal, { by, x: touch.clientX, y: touch.clientY });
  };
  place.addEventListener("touchstart", begin, { passive: true });
  place.addEventListener("touchmove", move, { passive: false });
  return () => {
    place.removeEventListener("touchstart", begin);
    place.removeEventListener("touchmove", move);
  };
}

type Moved = { readonly by: number; readonly x: number; readonly y: number };

/** Returns how many pixels of it were used; the rest is part of the next line. */
function scrolled(place: HTMLElement, terminal: Terminal, { by, x, y }: Moved): number {
  const screen = place.querySelector<HTMLElement>(".xterm-screen");
  if (terminal.buffer.active.type === "normal" && terminal.modes.mouseTrackingMode === "none") {
    const line = (screen?.clientHeight ?? 0) / terminal.rows || 1;
    const lines = Math.trunc(by / line);
    terminal.scrollLines(lines); // SW2
    return lines * line;
  }
  const how = { deltaY: by, clientX: x, clientY: y, deltaMode: WheelEvent.DOM_DELTA_PIXEL };
  screen?.dispatchEvent(new WheelEvent("wheel", { ...how, bubbles: true, cancelable: true }));
  return by;
}
