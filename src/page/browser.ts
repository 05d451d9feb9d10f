// The page's doors to the browser: its clock, timers, chance, storage, address and connections. Other files of this
// room touch the document, and nothing else of the outside.
import type { PageWire, PageWireEvents } from "../wire/page/client.ts";
import { SOCKET_PATH } from "../wire/page/messages.ts";

export function now(): number {
  return Date.now();
}

/** Returns the function that cancels it. */
export function after(ms: number, fn: () => void): () => void {
  const timer = setTimeout(fn, ms);
  return () => clearTimeout(timer);
}

export function every(ms: number, fn: () => void): () => void {
  const timer = setInterval(fn, ms);
  return () => clearInterval(timer);
}

export function chance(): number {
  return Math.random();
}

export function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** How many minutes the browser's clock is ahead of UTC at a time: a `Zone` of base/local-time.ts. */
export function minutesAhead(at: number): number {
  return -new Date(at).getTimezoneOffset();
}

/** The token is this tab's own. It is in no cookie: those go to every port of this machine. */
const TOKEN = "holdfast";

export function readToken(): string {
  return sessionStorage.getItem(TOKEN) ?? "";
}

export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
}

/** What a person chose in this browser. */
export function readChoice(name: string): string | null {
  return localStorage.getItem(`holdfast.${name}`);
}

export function keepChoice(name: string, value: string): void {
  localStorage.setItem(`holdfast.${name}`, value);
}

export type Answered = { readonly status: number; readonly text: string };

/** A request to the host that served the page. Throws if it does not answer in time. */
export async function post(path: string, body: unknown, ms: number): Promise<Answered> {
  const answer = await fetch(path, { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(ms) });
  return { status: answer.status, text: await answer.text() };
}

export function connect(events: PageWireEvents): PageWire {
  const socket = new WebSocket(`ws://${location.host}${SOCKET_PATH}`);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => events.opened();
  socket.onclose = ({ code, reason }) => events.closed(code, reason);
  socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (typeof data === "string") events.text(data);
    else events.bytes(new Uint8Array(data));
  };
  return {
    // Before it is open, and while it closes, nothing can be sent; the calls of a lost connection are refused.
    send: (message) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(message);
    },
    close: () => socket.close(),
  };
}

/** In a tab of its own, which cannot reach this one and does not learn where it was opened. */
export function openAddress(address: string): void {
  window.open(address, "_blank", "noopener,noreferrer");
}

/** Offers a text as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
