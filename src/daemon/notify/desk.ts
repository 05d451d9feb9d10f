// Calls people when a prompt waits for them (core/notify): makes calls from open prompts, sends them, and replaces them
// when the prompt is over.
// ND1. A call is on disk before anything of it leaves. After a crash it is sent again with the same tag, which shows
//      once; one whose prompt is over by then is withdrawn, or, if nothing had left, dropped.
// ND2. Nothing waits for it: it hears of changes once they are durable, sends beside everything else, with limits on
//      how much at once, how long and how often. What it throws is logged, and the daemon goes on.
// ND3. One message of a call is sent at a time. If the prompt ends meanwhile, that one is given up and the end is
//      sent at once: within a second, unless the target is down.
// ND4. Failed sends are repeated with growing waits, or as long as the target wants, until the prompt is over.
// ND5. Nobody is called in quiet hours. What is still open when they end is sent then; ends of prompts always are.
// ND6. A browser is called only while it may use the page (SB1 of core/notify/subscriptions.ts).
// ND7. Nobody is called about agents that are muted (core/notify/mutes.ts). What is still open when that ends is sent
//      then; ends of prompts always are.
// ND8. A prompt that is asked again, under its id, is called about anew once its end was sent.
import { backoffMs } from "../../base/backoff.ts";
import { isFault } from "../../base/fault.ts";
import { timeText } from "../../base/time-text.ts";
import { type Agent, isLive, openPrompts, type Prompt } from "../../core/agent/agent.ts";
import { type Mute, type Mutes, mutedAfter, muteOf, mutesOf } from "../../core/notify/mutes.ts";
import {
  after,
  type Call,
  called,
  dueOf,
  keyOf,
  MAX_CALLS,
  type Outbox,
  type Over,
  over,
  released,
  replied,
  WITHDRAWN_MS,
  withoutTarget,
} from "../../core/notify/outbox.ts";
import { isQuiet, type QuietHours } from "../../core/notify/quiet.ts";
import { ofDevices, type Subscriptions } from "../../core/notify/subscriptions.ts";
import type { Random } from "../../world/random.ts";
import type { Book } from "./book.ts";
import { endOf, gone, type LetterPorts, letterOf } from "./letter.ts";
import type { Reply } from "./reply.ts";
import type { Send, Target } from "./senders.ts";

/** ND2 */
const MAX_FLIGHTS = 16;
const MAX_FLIGHTS_OF_TARGET = 4;
/** ND4 */
const BACKOFF = { firstMs: 1_000, mostMs: 300_000, jitter: 0.2 };

export type NotifyPorts = LetterPorts & {
  readonly random: Random;
  readonly book: Book;
  readonly send: Send;
  readonly quiet: QuietHours | undefined;
  /** Beside the browsers. */
  readonly own: readonly Target[];
  /** Whether an agent of this name calls nobody, by the configuration. */
  isMuted(name: string): boolean;
  agents(): Iterable<Agent>;
  say(words: string): void;
};

type Flight = { readonly target: string; isStopped: boolean; readonly stop: () => void; readonly over: Promise<void> };
type Wait = { readonly failures: number; readonly until: number };

const EVENTS = { accepted: "accepted", refused: "refused", lost: "lost", gone: "target is gone" } as const;

export class NotifyDesk {
  readonly #ports: NotifyPorts;
  readonly #flights = new Map<string, Flight>();
  readonly #waits = new Map<string, Wait>();
  #isOn = false;
  /** Open prompts may be without a call: no room (OB4 of core/notify/outbox.ts), the disk failed, or asked again. */
  #isBehind = false;
  #stopTimer: () => void = () => undefined;
  #complained = false;

  constructor(ports: NotifyPorts) {
    this.#ports = ports;
  }

  /** Called once the daemon is live: what happened before is found in the agents and on disk. */
  goLive(): void {
    this.#isOn = true;
    this.lookAtAll();
  }

  /** Called on every heartbeat. */
  tick(): void {
    this.#contained(() => {
      if (!this.#isOn) return;
      this.#keepDevices();
      if (this.#keepMutes() || this.#isBehind) this.#lookAtAll();
      this.#pump();
    });
  }

  /** A change of this agent is durable. */
  heard(agent: Agent): void {
    if (this.#isOn) this.#contained(() => void (this.#look(agent) && this.#pump()));
  }

  /** Targets have changed, or everything is to be looked at. */
  lookAtAll(): void {
    this.#contained(() => {
      if (!this.#isOn) return;
      this.#keepDevices();
      this.#lookAtAll();
      this.#pump();
    });
  }

  async stop(): Promise<void> {
    this.#isOn = false;
    this.#stopTimer();
    const flights = [...this.#flights.values()];
    for (const flight of flights) giveUp(flight);
    await Promise.all(flights.map((flight) => flight.over));
    await this.#save();
  }

  /** Everyone who is called (ND6). */
  targets(): readonly Target[] {
    const { book, own, devices } = this.#ports;
    const names = new Map(devices().map(({ id, name }) => [id, name]));
    const browsers = book.now.subscriptions.flatMap((subscription): Target[] => {
      const name = names.get(subscription.device);
      return name === undefined ? [] : [{ kind: "browser", id: subscription.id, name, subscription }];
    });
    return [...own, ...browsers];
  }

  isQuiet(): boolean {
    const { quiet, clock } = this.#ports;
    return quiet !== undefined && isQuiet(quiet, clock.now(), clock);
  }

  /** How a delivery went, for `notify status` and `doctor`. */
  note(target: Target, reply: Reply): void {
    const { book, clock } = this.#ports;
    const before = book.now.records.get(target.id);
    const now = timeText(clock.now());
    const record =
      reply.kind === "accepted"
        ? { target: target.id, okAt: now, failedAt: before?.failedAt ?? null, why: "", failures: 0 }
        : {
            ...{ target: target.id, okAt: before?.okAt ?? null, failedAt: now, why: reply.why },
            failures: (before?.failures ?? 0) + 1,
          };
    book.change({ records: new Map(book.now.records).set(target.id, record) });
    if (reply.kind === "gone" && target.kind === "browser") this.#drop([target.id]);
  }

  get #outbox(): Outbox {
    return this.#ports.book.now.outbox;
  }

  #set(outbox: Outbox): boolean {
    return this.#ports.book.change({ outbox });
  }

  #lookAtAll(): void {
    const { agents, agent } = this.#ports;
    this.#isBehind = false;
    for (const one of agents()) this.#look(one);
    for (const [key, call] of this.#outbox) if (agent(call.agent) === undefined) this.#end(key, gone(this.#ports));
  }

  /** Makes calls for its open prompts, and ends those for the others; returns whether anything is different. */
  #look(agent: Agent): boolean {
    const before = this.#outbox;
    const open = isLive(agent) ? openPrompts(agent) : [];
    if (open.length === 0 && before.size === 0) return false;
    if (open.length > 0 && !this.#isMuted(agent)) this.#call(agent, open);
    const isOpen = new Set(open.map(({ id }) => id));
    for (const [key, call] of before)
      if (call.agent === agent.id && !isOpen.has(call.prompt)) this.#end(key, endOf(agent, call.prompt, this.#ports));
    return this.#outbox !== before;
  }

  /** ND7 */
  #isMuted(of: Agent): boolean {
    const { book, agent } = this.#ports;
    if (this.#ports.isMuted(of.name)) return true;
    return muteOf(book.now.mutes, of, (one) => agent(one)?.parent ?? null) !== undefined;
  }

  /** From now on these call nobody, or do again: then also about what is open. */
  mute(mute: Mute, muted: boolean): void {
    this.#ports.book.change({ mutes: mutedAfter(this.mutes(), mute, muted) });
    this.lookAtAll();
  }

  /** What people muted, and is not over. */
  mutes(): Mutes {
    const { book, clock, agent } = this.#ports;
    return mutesOf(book.now.mutes, clock.now(), (one) => agent(one) !== undefined);
  }

  /** Returns whether any is over. */
  #keepMutes(): boolean {
    return this.#ports.book.change({ mutes: this.mutes() });
  }

  #call(agent: Agent, open: readonly Prompt[]): void {
    const targets = this.targets();
    const { id, name } = agent;
    const calls = open.flatMap(({ id: prompt, tool, again }) => {
      const facts = { prompt, agent: id, name, tool: tool.slice(0, MAX_TOOL), ...(again !== undefined && { again }) };
      return targets.map(({ id: target }) => ({ ...facts, target }));
    });
    this.#set(called(this.#outbox, calls, this.isQuiet())); // ND5
    const isAskedAgain = calls.some((call) => this.#outbox.get(keyOf(call))?.state === "withdrawing"); // ND8
    this.#isBehind ||= isAskedAgain || this.#outbox.size >= MAX_CALLS;
  }

  /** ND3 */
  #end(key: string, how: Over): void {
    if (!this.#set(over(this.#outbox, key, how))) return;
    this.#waits.delete(key);
    const flight = this.#flights.get(key);
    if (flight !== undefined) giveUp(flight);
  }

  /** ND6 */
  #keepDevices(): void {
    const { book, devices } = this.#ports;
    const { subscriptions } = book.now;
    if (subscriptions.length === 0) return;
    const kept = ofDevices(subscriptions, new Set(devices().map(({ id }) => id)));
    this.#drop(subscriptions.filter((one) => !kept.includes(one)).map(({ id }) => id));
  }

  #drop(targets: readonly string[]): void {
    for (const target of targets) this.replace(this.#ports.book.now.subscriptions.filter(({ id }) => id !== target));
  }

  /** These are the subscriptions from now on; the calls of others are gone. */
  replace(subscriptions: Subscriptions): void {
    const { book } = this.#ports;
    const gone = book.now.subscriptions.filter((one) => !subscriptions.includes(one));
    const records = new Map(book.now.records);
    let outbox = this.#outbox;
    for (const { id } of gone) {
      outbox = withoutTarget(outbox, id);
      records.delete(id);
    }
    book.change({ subscriptions, outbox, records });
    for (const [key, flight] of this.#flights) if (!outbox.has(key)) giveUp(flight);
    void this.#save();
  }

  /** Sends what is due, as far as there is room (ND2). */
  #pump(): void {
    if (!this.#isOn) return;
    if (!this.isQuiet()) this.#set(released(this.#outbox)); // ND5
    const targets = new Map(this.targets().map((target) => [target.id, target]));
    for (const [key, call] of this.#outbox) {
      if (this.#flights.size >= MAX_FLIGHTS) return;
      if (!this.#isDue(key, call)) continue;
      const target = targets.get(call.target);
      if (target === undefined) this.#set(after(this.#outbox, key, "target is gone"));
      else if (this.#isTooLate(call)) this.#set(after(this.#outbox, key, "too late"));
      else if (this.#flightsTo(target) < MAX_FLIGHTS_OF_TARGET) this.#start(key, call, target);
    }
    this.#wakeUp();
  }

  #isDue(key: string, call: Call): boolean {
    if (this.#flights.has(key) || dueOf(call) === undefined) return false;
    if (dueOf(call) === "question" && this.#isMutedCall(call)) return false; // ND7
    return (this.#waits.get(key)?.until ?? 0) <= this.#ports.clock.elapsed();
  }

  #isMutedCall(call: Call): boolean {
    const asking = this.#ports.book.now.mutes.length === 0 ? undefined : this.#ports.agent(call.agent);
    return asking !== undefined && this.#isMuted(asking);
  }

  #isTooLate({ state, over: ended }: Call): boolean {
    return state === "withdrawing" && this.#ports.clock.now() - Date.parse(ended?.at ?? "") > WITHDRAWN_MS;
  }

  #flightsTo({ id }: Target): number {
    return [...this.#flights.values()].filter(({ target }) => target === id).length;
  }

  #wakeUp(): void {
    const { clock } = this.#ports;
    this.#stopTimer();
    const times = [...this.#waits.values()].map(({ until }) => until).filter((until) => until > clock.elapsed());
    if (times.length === 0) return;
    this.#stopTimer = clock.after(Math.min(...times) - clock.elapsed(), () => this.#contained(() => this.#pump()));
  }

  #start(key: string, call: Call, target: Target): void {
    const asks = dueOf(call) === "question";
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    const landed = Promise.withResolvers<void>();
    const flight = { target: target.id, isStopped: false, stop, over: landed.promise };
    this.#flights.set(key, flight);
    void this.#fly(key, { call, target, asks, flight, stopped })
      .catch((error: unknown) => {
        this.#waits.set(key, this.#later(key));
        this.#complain(error);
      })
      .finally(() => {
        this.#flights.delete(key);
        landed.resolve();
        this.#contained(() => this.#pump());
      });
  }

  async #fly(key: string, { call, target, asks, flight, stopped }: Trip): Promise<void> {
    if (asks && !(await this.#isOnDisk(key, call))) return;
    const message = letterOf(asks ? call : (this.#outbox.get(key) ?? call), target, this.#ports);
    if (message === undefined) return this.#end(key, gone(this.#ports)); // The agent is gone, and so is its question.
    const reply = await this.#ports.send(target, { ...message, stopped });
    this.#set(replied(this.#outbox, call, EVENTS[reply.kind]));
    this.#waitAfter(key, reply, asks);
    if (!flight.isStopped) this.note(target, reply); // What we gave up says nothing of the target.
    void this.#save();
  }

  /** ND1. Returns false if nothing is to be sent after all. */
  async #isOnDisk(key: string, { state }: Call): Promise<boolean> {
    this.#set(after(this.#outbox, key, "about to be sent"));
    const isSaved = await this.#save();
    const isStillOpen = this.#outbox.get(key)?.state === "sent";
    if (isSaved && isStillOpen) return true;
    const nothingLeft = state === "due";
    if (nothingLeft) this.#set(after(this.#outbox, key, isStillOpen ? "refused" : "not sent"));
    if (!isSaved) this.#waits.set(key, this.#later(key));
    return false;
  }

  /** ND4 */
  #waitAfter(key: string, reply: Reply, asks: boolean): void {
    const isPast = asks && this.#outbox.get(key)?.state === "withdrawing";
    if (reply.kind === "accepted" || isPast || !this.#outbox.has(key)) this.#waits.delete(key);
    else this.#waits.set(key, this.#later(key, reply.kind === "refused" ? reply.retryAfterMs : undefined));
  }

  #later(key: string, atLeastMs = 0): Wait {
    const { clock, random } = this.#ports;
    const failures = (this.#waits.get(key)?.failures ?? 0) + 1;
    return { failures, until: clock.elapsed() + Math.max(atLeastMs, backoffMs(failures, random.fraction(), BACKOFF)) };
  }

  /** Returns whether all of it is on disk. */
  async #save(): Promise<boolean> {
    try {
      await this.#ports.book.saved();
      this.#complained = false;
      return true;
    } catch (error) {
      this.#complain(error);
      return false;
    }
  }

  /** ND2 */
  #contained(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#isBehind = true; // The next heartbeat looks at everything again.
      this.#complain(error);
    }
  }

  #complain(error: unknown): void {
    const words = isFault(error) ? `${error.message}. ${error.hint}` : `a bug of holdfast: ${String(error)}`;
    if (!this.#complained) this.#ports.say(`notifications: ${words}`);
    this.#complained = true;
  }
}

type Trip = {
  readonly call: Call;
  readonly target: Target;
  /** Whether it is sent as a question. */
  readonly asks: boolean;
  readonly flight: Flight;
  readonly stopped: Promise<void>;
};

/** As in a notification. */
const MAX_TOOL = 100;

/** Gives it up: whatever its reply would be, nothing depends on it any more. */
function giveUp(flight: Flight): void {
  flight.isStopped = true;
  flight.stop();
}
