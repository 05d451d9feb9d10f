// Keeps the watched programs: hears their heartbeats, records their crashes, sees crash loops, and enters safe mode
// (WD-6, SM-5).
// Q1. A crash of an essential program is on record, and safe mode in force, before that program starts again; but a
//     disk that does not answer holds nobody up for longer than `RECORD_MS`.
// Q2. To be unresponsive is reported and not counted: only an end is a crash that makes a loop, and a hang that we end
//     is one end.

import type { Fault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { CrashReason, type CrashRecord, crashRecord } from "../home/last-crash.ts";
import { WATCHDOG_SOCKET } from "../home/layout.ts";
import type { Complain } from "../home/recovery-bus.ts";
import { SafeMode } from "../home/safe-mode.ts";
import { readWanted } from "../home/wanted.ts";
import {
  type Announced,
  HEARTBEAT_NAME_VARIABLE,
  HEARTBEAT_SOCKET_VARIABLE,
  HEARTBEAT_VARIABLE,
  type HeartbeatMessage,
  SAFE_MODE_VARIABLE,
} from "../wire/heartbeat.ts";
import { CrashLoopDetector } from "./crash-loop.ts";
import { CrashRecorder } from "./crash-record.ts";
import { HeartbeatServer, type Host, type Inform } from "./heartbeat-server.ts";
import type { NewsDesk } from "./news.ts";
import type { PartOwner, WatchdogOptions, WatchdogWorld } from "./owner.ts";
import type { PaceLimits } from "./pace.ts";
import { DAEMON, type WatchSpec } from "./specs.ts";
import { Watchdog } from "./watchdog.ts";
import { WatchedProgram } from "./watched-program.ts";

/** Q1: writing takes a few milliseconds on a healthy disk. */
const RECORD_MS = 1_000;

export class WatchdogService implements PartOwner, Host {
  readonly world: WatchdogWorld;
  readonly home: string;
  readonly watchdog: Watchdog;
  readonly pace: PaceLimits;
  readonly stopMs: number;
  readonly say: (text: string) => void;
  readonly complain: Complain;
  readonly #parts: readonly WatchedProgram[];
  readonly #reception: HeartbeatServer;
  readonly #recorder: CrashRecorder;
  readonly #detector: CrashLoopDetector;
  readonly #safeMode: SafeMode;
  readonly #news: NewsDesk;
  readonly #restore: () => void;
  readonly #told = Promise.withResolvers<"down" | "displaced">();

  constructor(world: WatchdogWorld, home: string, specs: readonly WatchSpec[], options: WatchdogOptions) {
    this.world = world;
    this.home = home;
    this.pace = options.pace;
    this.stopMs = options.stopMs;
    this.say = options.say;
    this.#restore = () => options.restore?.();
    this.complain = (fault) => this.say(`${fault.message}. ${fault.hint}`);
    const place = { ...world, home };
    this.watchdog = new Watchdog(world, options.limits);
    this.watchdog.onCrashDetected((...accusation) => this.#accuse(...accusation));
    this.#recorder = new CrashRecorder(place, this.complain, options.news);
    this.#detector = new CrashLoopDetector(place, this.complain, options.pace.crashLoop);
    this.#safeMode = new SafeMode(place, this.complain, options.news);
    this.#news = options.news;
    this.#reception = new HeartbeatServer({ ...world, path: joinPath(home, WATCHDOG_SOCKET) }, this, this.complain);
    this.#parts = specs.map((spec) => new WatchedProgram(this, spec));
  }

  /** Resolves when the operator wants `down`, or when another watchdog took our place. */
  get told(): Promise<"down" | "displaced"> {
    return this.#told.promise;
  }

  open(): Promise<Fault | undefined> {
    return this.#reception.open();
  }

  begin(): void {
    for (const part of this.#parts) part.begin();
    this.look();
  }

  /** In reverse order of their start. */
  async stop(): Promise<void> {
    for (const part of this.#parts.toReversed()) await part.stop();
  }

  close(): void {
    for (const part of this.#parts) part.leave();
    this.#reception.close();
  }

  wantsUp(): boolean {
    return readWanted(this.world.disk, this.home) === "up";
  }

  toldDown(): void {
    this.#told.resolve("down");
  }

  displaced(): void {
    this.#told.resolve("displaced");
  }

  /** run/ was removed, and with it what the next watchdog would read. */
  restored(): void {
    this.say("run/ was removed: it is made again");
    this.#restore();
    for (const part of this.#parts) part.noteAgain();
  }

  /** Only programs without a lock: the other watchdog could not know about them, and has started its own. */
  async stopUnlocked(): Promise<void> {
    for (const part of this.#parts) if (part.spec.shows.kind === "running") await part.stop();
  }

  look(): void {
    if (!this.wantsUp()) this.toldDown();
  }

  variables({ name, shows }: WatchSpec): Readonly<Record<string, string>> {
    const { reason } = this.#safeMode;
    const beats = shows.intervalMs !== undefined;
    return {
      ...(beats && { [HEARTBEAT_VARIABLE]: String(shows.intervalMs) }),
      ...(beats && shows.kind === "running" && this.#address(name)),
      ...(reason !== undefined && { [SAFE_MODE_VARIABLE]: reason }),
    };
  }

  #address(name: string): Readonly<Record<string, string>> {
    return { [HEARTBEAT_SOCKET_VARIABLE]: joinPath(this.home, WATCHDOG_SOCKET), [HEARTBEAT_NAME_VARIABLE]: name };
  }

  heard(from: Announced, message: HeartbeatMessage, inform: Inform): void {
    const part = this.#partOf(from.name);
    if (message.type === "hello") part?.announced(identityOf(from), message.live);
    else if (message.type === "beat") part?.beat(from);
    else if (message.type === "live") part?.live(from);
    else if (message.type === "bye") part?.lifeOf(from)?.leaving(message.code);
    const isLive = message.type === "live" || (message.type === "hello" && message.live);
    if (isLive && from.name === DAEMON && part?.lifeOf(from) !== undefined) this.#news.listens(inform); // NW1
  }

  hungUp(from: Announced, inform: Inform): void {
    this.#news.left(inform);
    this.#partOf(from.name)?.lifeOf(from)?.lookClosely();
  }

  async crashed(spec: WatchSpec, crash: CrashRecord): Promise<void> {
    // It is restarted first.
    if (!spec.essential) return this.world.clock.soon(() => void this.#recorder.record(crash));
    this.#forgetOldCrashes();
    const written = [this.#recorder.record(crash), this.#detector.recordCrash(this.world.clock.now())];
    if (this.#detector.isLooping()) written.push(this.#enterSafeMode(crash));
    await this.#withinReason(Promise.all(written)); // Q1
  }

  /** SM-3: leaving safe mode resets the count. The file says when that was, whichever process wrote it. */
  #forgetOldCrashes(): void {
    const mode = this.#safeMode.state;
    if (!mode.active && mode.since !== "") this.#detector.forgetUntil(Date.parse(mode.since));
  }

  #enterSafeMode(crash: CrashRecord): Promise<boolean> {
    const reason = this.#whyLooping(crash);
    this.say(`safe mode: ${reason}`);
    return this.#safeMode.enter(reason);
  }

  #withinReason(work: Promise<unknown>): Promise<unknown> {
    const late = Promise.withResolvers<void>();
    const cancel = this.world.clock.after(RECORD_MS, late.resolve);
    return Promise.race([work, late.promise]).finally(cancel);
  }

  #whyLooping({ name, reason, signal, exitCode }: CrashRecord): string {
    const { crashes, windowMs } = this.pace.crashLoop;
    const last = signal ?? (exitCode === null ? reason : `exit code ${exitCode}`);
    return `${name} crashed ${crashes} times within ${windowMs / 1000} s, most recently by ${last}`;
  }

  #accuse(name: string, pid: number, reason: CrashReason): void {
    this.#partOf(name)?.accused(pid, reason);
    if (reason !== CrashReason.UNRESPONSIVE) return;
    this.say(`${name} (${pid}) is unresponsive`);
    void this.#recorder.record(crashRecord({ name, pid, reason }, undefined, this.world.clock.now())); // Q2
  }

  #partOf(name: string): WatchedProgram | undefined {
    return this.#parts.find(({ spec }) => spec.name === name);
  }
}

function identityOf({ pid, startTime, bootId }: Announced) {
  return { pid, startTime, bootId };
}
