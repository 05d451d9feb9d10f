// The page's doors to the browser: its clock, timers, chance, storage, address and connections. Other files of this
// room touch the document, and nothing else of the outside.
import type { PageWire, PageWireEvents } from "../wire/page/client.ts";

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

/** Undefined where the browser has none: a page that was not loaded over HTTPS, or from this machine. */
export function cryptography(): SubtleCrypto | undefined {
  return globalThis.isSecureContext ? crypto.subtle : undefined;
}

/** What is behind the # of the address. */
export const address = {
  named: (name: string): string | null => new URLSearchParams(location.hash.slice(1)).get(name),
  forget: (): void => history.replaceState(null, "", location.pathname),
  whenChanged: (fn: () => void): void => addEventListener("hashchange", fn),
  reload: (): void => location.reload(),
};

/** Goes to another page, which does not learn where from. */
export function leaveFor(page: string): void {
  const way = document.createElement("a");
  way.href = page;
  way.rel = "noreferrer";
  way.click();
}

/** What is behind the # from now on; the back button does not lead to the one before. */
export function replaceHash(hash: string): void {
  history.replaceState(null, "", hash);
}

export function isFramed(): boolean {
  return globalThis.document !== undefined && globalThis.top !== globalThis.self; // A worker has no frame.
}

const VAULT = "holdfast";

/** What this browser keeps for this origin: also keys, which cannot be read. Undefined if there is nothing. */
export async function readVault(name: string): Promise<unknown> {
  return await inVault("readonly", (vault) => vault.get(name));
}

/** Undefined removes it. Resolves when it is stored. */
export async function keepInVault(name: string, value: object | undefined): Promise<void> {
  await inVault("readwrite", (vault) => (value === undefined ? vault.delete(name) : vault.put(value, name)));
}

/** Throws a DOMException if the browser does not allow it. */
async function inVault(mode: IDBTransactionMode, ask: (vault: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const opening = indexedDB.open(VAULT);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(VAULT);
  await new Promise((resolve, reject) => {
    opening.onsuccess = resolve;
    opening.onerror = () => reject(opening.error);
  });
  const transaction = opening.result.transaction(VAULT, mode, { durability: "strict" });
  const request = ask(transaction.objectStore(VAULT));
  await new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  }).finally(() => opening.result.close());
  return request.result;
}

export type Answered = { readonly status: number; readonly text: string };

/** A request to the host that served the page. Throws if it does not answer in time. */
export async function post(path: string, body: unknown, ms: number): Promise<Answered> {
  const answer = await fetch(path, { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(ms) });
  return { status: answer.status, text: await answer.text() };
}

/** What a service worker does for the page. */
export function fetched(request: Request): Promise<Response> {
  return fetch(request);
}

/** What an exported page tells its service worker. */
const RELAY = "relay";

/** The origin to which an exported page connects; undefined if the page came from there itself. */
export function otherOrigin(): string | undefined {
  const { document, location } = globalThis;
  if (document !== undefined) return document.querySelector("meta[name=relay]")?.getAttribute("content") ?? undefined;
  return new URLSearchParams(location?.search).get(RELAY) ?? undefined;
}

/** Whether the page came from elsewhere than this machine, or was exported: then a relay leads to its home. */
export const isRemote =
  otherOrigin() !== undefined ||
  !["127.0.0.1", "localhost", "[::1]"].includes(globalThis.location?.hostname ?? "localhost");

/** Opens a WebSocket to the host that served the page, or to the one that an exported page names. */
export function connect(path: string, events: PageWireEvents): PageWire {
  const at = new URL(path, otherOrigin() ?? location.origin);
  at.protocol = at.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(at);
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

/** The page's service worker, and being called through it. */
export const worker = {
  /** Undefined if the browser has none, or refuses it: in a private window, or for a page without HTTPS. */
  install: async (): Promise<ServiceWorkerRegistration | undefined> => {
    if (!("serviceWorker" in navigator)) return undefined;
    const relay = otherOrigin();
    const query = relay === undefined ? "" : `?${new URLSearchParams({ [RELAY]: relay })}`;
    try {
      await navigator.serviceWorker.register(`worker.js${query}`, { scope: "./" });
      return await navigator.serviceWorker.ready;
    } catch (error) {
      if (error instanceof DOMException || error instanceof TypeError) return undefined;
      throw error;
    }
  },
  /** What it says to this page. */
  whenTold: (fn: (message: unknown) => void): void =>
    navigator.serviceWorker?.addEventListener("message", ({ data }) => fn(data)),
  canCall: (): boolean => "PushManager" in globalThis && "Notification" in globalThis,
  permission: (): NotificationPermission => Notification.permission,
  askPermission: (): Promise<NotificationPermission> => Notification.requestPermission(),
};

/** On an iPhone or iPad, where only an installed page may be called. */
export function isTouchApple(): boolean {
  return /iPhone|iPad/.test(navigator.userAgent) || (navigator.platform === "MacIntel" && navigator.maxTouchPoints > 1);
}

/** Drops what is kept of the page's own files, and loads it again. Once for each `reason` in the life of this tab. */
export async function reloadFresh(reason: string): Promise<void> {
  if (sessionStorage.getItem(RELOADED) === reason) return;
  sessionStorage.setItem(RELOADED, reason);
  if ("caches" in globalThis) for (const name of await caches.keys()) await caches.delete(name);
  location.reload();
}
const RELOADED = "holdfast.reloaded";

/** What is seen of the page: less than the window while a keyboard is on the screen. `fn` gets top and height. */
export function followVisible(fn: (top: number, height: number) => void): void {
  const seen = globalThis.visualViewport;
  if (!seen) return;
  const look = () => {
    if (seen.scale < 1.01) fn(seen.offsetTop, seen.height); // Zooming in is looking closer, not less room.
  };
  seen.addEventListener("resize", look);
  seen.addEventListener("scroll", look);
  look();
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
