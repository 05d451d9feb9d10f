// A browser that is called: its service worker, what it shows, and messages that a push service would bring.
// Subscribing needs the internet, so the test gives the browser a subscription at our own push service (tests/notify).
// PT1. What arrives there is sealed for this subscription; it is opened here, and delivered by Chromium's DevTools,
//      which is what the browser itself does after its own push service.
// PT2. A list of notifications is asked for when all are shown: Chromium forgets those that it is about to show while
//      it makes such a list.
import type { CDPSession, Worker } from "playwright-core";
import type { Message } from "../../src/core/notify/message.ts";
import type { PushServer } from "../notify/push-server.ts";
import { FarHome } from "../tunnel/far-home.ts";
import { until } from "../until.ts";
import type { Tab } from "./browser.ts";

/** A home whose daemon trusts our push service. */
export class CallingHome extends FarHome {
  readonly #push: PushServer;

  constructor(push: PushServer) {
    super(`[push]\nallow = ["${push.host}"]\n`);
    this.#push = push;
  }

  override get env(): Record<string, string> {
    return { ...super.env, NODE_EXTRA_CA_CERTS: this.#push.certificate };
  }

  /** The prompt of an agent that was told to ask. */
  prompt(name: string): Promise<string> {
    return until(
      `${name} asks`,
      async () => (await this.json("prompts")).find((one: { name: string }) => one.name === name)?.id,
      () => this.json("prompts"),
    );
  }

  /** How often the agent was answered. */
  async answers(name: string): Promise<number> {
    return (await this.ok("agent", "log", name)).split("> allow").length - 1;
  }
}

export type Shown = {
  readonly tag: string;
  readonly title: string;
  readonly body: string;
  readonly actions: readonly string[];
};

/** Runs in the page before its own scripts: the browser has this subscription once it was asked for one. */
function subscribing(made: { readonly endpoint: string; readonly p256dh: string; readonly auth: string }): string {
  return `{
    const { endpoint, ...keys } = ${JSON.stringify(made)};
    const isOn = () => localStorage.getItem("test.subscribed") === "yes";
    const subscription = {
      endpoint, options: { applicationServerKey: null }, toJSON: () => ({ endpoint, keys }),
      unsubscribe: async () => { localStorage.removeItem("test.subscribed"); return true; },
    };
    PushManager.prototype.getSubscription = async () => (isOn() ? subscription : null);
    PushManager.prototype.subscribe = async () => { localStorage.setItem("test.subscribed", "yes"); return subscription; };
  }`;
}

export class PushTab {
  readonly tab: Tab;
  readonly #push: PushServer;
  readonly #name: string;
  readonly #devtools: CDPSession;
  #registration = "";
  #origin = "";
  #delivered = 0;

  private constructor(tab: Tab, push: PushServer, name: string, devtools: CDPSession) {
    this.tab = tab;
    this.#push = push;
    this.#name = name;
    this.#devtools = devtools;
    devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      this.#registration = registrations.at(-1)?.registrationId ?? this.#registration;
    });
  }

  /** Before the tab loads the page. */
  static async on(tab: Tab, push: PushServer, name: string): Promise<PushTab> {
    const context = tab.page.context();
    await context.grantPermissions(["notifications"]);
    await tab.page.addInitScript(subscribing(push.subscribe(name)));
    const made = new PushTab(tab, push, name, await context.newCDPSession(tab.page));
    await made.#devtools.send("ServiceWorker.enable");
    return made;
  }

  async worker(): Promise<Worker> {
    const [found] = this.tab.page.context().serviceWorkers();
    return found ?? (await this.tab.page.context().waitForEvent("serviceworker"));
  }

  /** Turns notifications on, as a person does. */
  async turnOn(): Promise<void> {
    const { page } = this.tab;
    await page.getByRole("button", { name: "Turn on" }).click();
    await page.getByText("This browser is called", { exact: true }).waitFor();
    this.#origin = new URL(page.url()).origin;
  }

  /** The tab leaves the page: none of ours is open any more, and the worker stays. */
  async leave(): Promise<void> {
    await this.tab.page.goto("about:blank");
  }

  /** PT1. Everything that has arrived since. */
  async deliver(): Promise<void> {
    const { arrived } = this.#push.browser(this.#name);
    while (this.#delivered < arrived.length) {
      const message = arrived[this.#delivered]?.message;
      this.#delivered += 1;
      await this.pushed(JSON.stringify(message));
    }
  }

  /** The browser gets this text as a push message: resolves when something is shown for it, as for each (NW3). */
  async pushed(data: string): Promise<void> {
    const origin = this.#origin;
    const worker = await this.worker();
    await worker.evaluate(NEXT_SHOWN);
    await this.#devtools.send("ServiceWorker.deliverPushMessage", { origin, registrationId: this.#registration, data });
    await worker.evaluate("self.nextShown");
  }

  async shown(): Promise<readonly Shown[]> {
    return (await this.worker()).evaluate(SHOWN);
  }

  /** Waits until a message of this kind has arrived and is shown, alone for its tag. */
  async shows(prompt: string, kind: Message["kind"], title: RegExp): Promise<Shown> {
    const arrived = () => this.#push.browser(this.#name).arrived;
    await until(
      `${kind} of ${prompt}`,
      () => arrived().some(({ message }) => message.tag === prompt && message.kind === kind),
      () => [arrived(), this.#push.wrong],
    );
    await this.deliver();
    const found = (await this.shown()).filter(({ tag }) => tag === prompt);
    const [only, ...others] = found;
    if (only === undefined || others.length > 0 || !title.test(only.title))
      throw new Error(`it shows ${JSON.stringify(found)}, not ${title}`);
    return only;
  }

  /** A click on the notification, or one of its buttons: resolves when the worker has done what it does then. */
  async click(tag: string, action = "", times = 1): Promise<void> {
    await (await this.worker()).evaluate(`(${CLICK})(${JSON.stringify([tag, action, times])})`);
  }
}

/** PT2. Runs in the worker: `nextShown` resolves when the next notification is shown. */
const NEXT_SHOWN = `void (self.nextShown = new Promise((done) => {
  const plain = ServiceWorkerRegistration.prototype.showNotification;
  ServiceWorkerRegistration.prototype.showNotification = async function (...given) {
    ServiceWorkerRegistration.prototype.showNotification = plain;
    await plain.apply(this, given);
    done();
  };
}))`;

const SHOWN = `(async () => (await self.registration.getNotifications()).map(({ tag, title, body, actions }) =>
  ({ tag, title, body, actions: actions.map(({ action }) => action) })))()`;

/** Only a person's click may focus a tab, or open one: where this one would, is noted. Runs in the worker. */
const CLICK = `async ([tag, action, times]) => {
  const [notification] = await self.registration.getNotifications({ tag });
  const done = [];
  self.opened ??= [];
  self.clients.openWindow = async (url) => void self.opened.push(url);
  WindowClient.prototype.focus = async () => undefined;
  for (let time = 0; time < times; time += 1) {
    const event = new NotificationEvent("notificationclick", { notification, action });
    Object.defineProperty(event, "waitUntil", { value: (promise) => done.push(promise) });
    self.dispatchEvent(event);
  }
  await Promise.all(done);
}`;
