// What a service worker has around it, as far as ours uses it. The types of browsers know a document or a worker, and
// not both; this room knows the document.

export type WaitingEvent = { waitUntil(done: Promise<unknown>): void };
export type FetchEvent = { readonly request: Request; respondWith(answer: Promise<Response>): void };
export type PushEvent = WaitingEvent & { readonly data: { text(): string } | null };
export type ClickEvent = WaitingEvent & { readonly notification: Notification; readonly action: string };

/** A tab of ours. */
export type Tab = {
  readonly url: string;
  readonly focused: boolean;
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
};

/** The DOM's own type knows no buttons. */
export type ShownOptions = NotificationOptions & {
  readonly actions?: readonly { readonly action: string; readonly title: string }[];
};

export type WorkerScope = {
  readonly registration: {
    readonly scope: string;
    showNotification(title: string, options: ShownOptions): Promise<void>;
  };
  readonly clients: {
    claim(): Promise<void>;
    matchAll(which: { readonly type: "window"; readonly includeUncontrolled: boolean }): Promise<readonly Tab[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: WaitingEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
  addEventListener(type: "push", listener: (event: PushEvent) => void): void;
  addEventListener(type: "notificationclick", listener: (event: ClickEvent) => void): void;
};
