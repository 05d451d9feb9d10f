// The daemon: opens the log, lets its parts (part.ts) recover, and then accepts commands. One per home (flock).
// D1. The socket answers from the start: the status can be read during recovery, but nothing is changed before it is
//     over (PB3 of part.ts).
// D2. A clean end finishes what was begun, leaves the children to their holders, and records on disk that it was clean.
//     An end in the middle of a recovery is not clean: the next start examines everything from the start.
// D3. If one of our files in run/ is removed, it is put back.
// D4. If a record (report, marker) cannot be written, that is logged. It stops neither a recovery nor a live daemon. A
//     report is written later (RW1 of home/report-writer.ts).
// D5. The parts have one order, in which all is done: terminal, tmux, workflow, agent, notify, search, fleet. They are
//     folded in turn. RESTORING is concurrent, since each part looks only at its own sessions. RECONCILING is
//     sequential: what terminals left behind is stopped before tmux sessions are re-created, and steps and turns
//     continue last. `goLive` and `tick` follow the same order. `stop` is called on all at once, so that nothing new
//     begins, and awaited.
// D6. A log that has stopped for good ends the process, even if nothing is asked of it: everything would be refused,
//     and only the next process may continue.

import { allOf } from "../base/all-of.ts";
import { joinPath } from "../base/path.ts";
import { ok, type Result } from "../base/result.ts";
import { type ReportItem, retriedStage } from "../core/recovery.ts";
import { Callers } from "../home/callers.ts";
import { diskTrouble } from "../home/disk-faults.ts";
import { type Cause, detectCause, removeCleanEnd, writeCleanEnd } from "../home/last-life.ts";
import { DAEMON_SOCKET } from "../home/layout.ts";
import { ReportWriter } from "../home/report-writer.ts";
import { readReport, shortened } from "../home/reports.ts";
import { STILL_SAFE } from "../home/safe-mode.ts";
import { homeToken, keepToken } from "../home/token.ts";
import { EventLog } from "../log/event-log.ts";
import { BallastKeeper } from "../log/file/ballast.ts";
import { damageIn } from "../log/recover.ts";
import type { News } from "../wire/heartbeat.ts";
import { paramsOf } from "../wire/rpc/params.ts";
import type { GcResult, ReloadResult, StatusResult } from "../wire/rpc/rpc.ts";
import { archivesOf } from "./archive-gc.ts";
import { BACKUP_RUNS, BackupPin } from "./backup-pin.ts";
import { DeviceDesk } from "./devices.ts";
import { fleetHandlers } from "./fleet/handlers.ts";
import { GarbageCollector } from "./gc.ts";
import { claimTaken } from "./held/taken-over.ts";
import { reloadedText } from "./live-config.ts";
import { logsOf } from "./log-gc.ts";
import { numbered } from "./pages.ts";
import { type HowFar, listed, NOT_LIVE, notOpen, type Part, type Reading, tolerating } from "./part.ts";
import { inOrder, openParts, type Parts } from "./parts.ts";
import type { DaemonPorts } from "./ports.ts";
import { WatchdogNews } from "./recovery-news.ts";
import { RecoveryRun, type RunOutcome, type StageWork } from "./recovery-run.ts";
import { RecoveryStateMachine } from "./recovery-state.ts";
import { type Given, type Handler, RpcServer } from "./rpc-server.ts";
import { skipHandlers } from "./skip.ts";
import { Timekeeper } from "./timekeeper.ts";

type Opened = Parts & {
  readonly log: EventLog;
  readonly times: Timekeeper;
  readonly all: readonly Part[];
  readonly garbage: GarbageCollector;
};

/** More of the same says nothing new. */
const MAX_TROUBLES = 5;

export class Daemon {
  readonly #ports: DaemonPorts;
  readonly #startedAt: string;
  readonly #machine: RecoveryStateMachine;
  /** Our own handlers; those of the parts are added when the log is open. */
  readonly #handlers: Record<string, Handler>;
  readonly #ballast: BallastKeeper;
  readonly #reports: ReportWriter;
  readonly #news: WatchdogNews;
  readonly #devices: DeviceDesk;
  readonly #pin: BackupPin;
  #token: string | undefined;
  #server: RpcServer | undefined;
  #parts: Opened | undefined;
  #run: RecoveryRun | undefined;
  #progress: HowFar | null = null;
  #reading: Reading | null = null;
  #cause: Cause | undefined;
  #crash: Readonly<Record<string, unknown>> | null = null;
  #begun = 0;
  #retrying: Promise<Result<{ stage: string }>> | undefined;

  constructor(ports: DaemonPorts) {
    const { world, config } = ports;
    this.#ports = ports;
    this.#startedAt = new Date(world.clock.now()).toISOString();
    const place = { disk: world.disk, clock: world.clock, home: world.home, bootId: world.processes.bootId() };
    this.#machine = new RecoveryStateMachine(place, config.recovery.maxAttempts, (change) =>
      ports.bus.publish("recovery.stage.changed", change),
    );
    this.#ballast = new BallastKeeper(world, config.log.ballastBytes);
    this.#reports = new ReportWriter(world, ports.say);
    this.#news = new WatchdogNews(ports);
    this.#devices = new DeviceDesk(world, (device) => this.#server?.disconnect(device));
    this.#pin = new BackupPin(world.clock, () => this.#opened());
    this.#handlers = { ...this.#ownHandlers(), ...this.#devices.handlers };
  }

  #ownHandlers(): Record<string, Handler> {
    const { disk, home } = this.#ports.world;
    return {
      status: async () => ok(this.#status()),
      attention: async (given) => this.#attention(given),
      "recovery.report": async ({ name }) => ok(readReport(disk, home, typeof name === "string" ? name : null)),
      "recovery.retry": () => this.#retryAlone(),
      "safe-mode.exit": () => this.#leaveSafeMode(),
      "config.reload": () => this.reload(),
      ...fleetHandlers(this.#ports),
      gc: ({ dryRun }) => this.#collect(dryRun !== false), // If in doubt, nothing is removed.
      backup: (given) => this.#pinned(given),
    };
  }

  /** Reads the configuration again; a file with a mistake is refused, and nothing changes. */
  async reload(): Promise<Result<ReloadResult>> {
    const { live, bus, say } = this.#ports;
    const done = live.reload();
    say(done.ok ? reloadedText(done.value) : `the configuration was not reloaded: ${done.error.message}`);
    if (!done.ok) return done;
    this.#parts?.garbage.follow(live.current.retention);
    bus.publish("config.reloaded", done.value);
    if (this.isLive) for (const part of this.#opened().all) await part.reloaded?.();
    return done;
  }

  /** D1 */
  async serve(): Promise<void> {
    const { world, version, bus, say } = this.#ports;
    const token = await homeToken(world.disk, world.random, world.home);
    this.#token = token;
    const server = new RpcServer(this.#handlers, bus, {
      ...{ clock: world.clock, token, version, pid: world.processes.pid, say },
      others: (bearer) => this.#parts?.agent.bearer(bearer),
      devices: (bearer) => this.#devices.bearer(bearer),
      ...{ callers: new Callers(world, world.home), stage: () => this.#machine.getCurrentStage() },
      missing: () => (this.#parts === undefined ? notOpen(this.#ports.fleet) : undefined),
    });
    await server.listen(world.sockets, joinPath(world.home, DAEMON_SOCKET));
    this.#server = server;
  }

  /** Called on every heartbeat; a failure is retried on the next one. */
  async tend(): Promise<void> {
    const { world } = this.#ports;
    for (const part of this.isLive ? this.#opened().all : []) await this.#tolerating(async () => part.tick());
    if (this.isLive) await this.#tolerating(() => this.#ballast.tend());
    await this.#tolerating(async () => {
      if (this.#token !== undefined) await keepToken(world.disk, world.home, this.#token); // D3
      await this.#server?.look(world.sockets);
    });
    await this.#parts?.times.tend();
    await this.#reports.tend();
  }

  /** D4 */
  #tolerating(work: () => Promise<void>): Promise<void> {
    return tolerating(this.#ports.say, work);
  }

  get isLive(): boolean {
    return this.#machine.getCurrentStage() === "LIVE";
  }

  /**
   * Opens the log and the parts; returns the damage that was found (DS-2). Throws a Fault if storage cannot be opened.
   */
  async openStorage(): Promise<string[]> {
    const { world, config, bus, safeMode, say, onBug, fleet } = this.#ports;
    this.#begun = world.clock.elapsed();
    this.#machine.resume();
    const log = await EventLog.open(world, config.log, (looked) => {
      this.#reading = { what: "logs", ...looked };
    });
    this.#reading = null;
    void log.halted.then(onBug); // D6
    await fleet?.join(log);
    const times = new Timekeeper(world, {
      waits: () => all.flatMap((part) => [...(part.waits?.() ?? [])]),
      changed: () => {
        void times.tend().catch(onBug);
        for (const part of all) part.remindAll?.();
      },
      say,
    });
    const parts = openParts(
      { ...this.#ports, log, times, isLive: () => this.isLive, isPinned: () => this.#pin.isActive },
      {
        report: (items) => this.#report(items, { cause: "holder crash" }),
        progressed: (progress) => {
          this.#progress = progress;
          bus.publish("recovery.progress", progress);
        },
        listenForSandboxes: async (path) => this.#server?.listen(world.sockets, path, "door"),
        devices: () => this.#devices.current(),
      },
    );
    const all = inOrder(parts); // D5
    const archives = archivesOf(world, all);
    const garbage = new GarbageCollector(world, config.retention, {
      parts: [...all, archives, logsOf(world, log, all)],
      collected: archives.collected,
      isOff: () => safeMode.isActive() || this.#pin.isActive,
      ...{ say, onBug },
    });
    this.#parts = { ...parts, log, times, all, garbage };
    const skips = skipHandlers({
      poisons: log.poisons,
      pages: this.#ports.pages,
      asides: () => all.flatMap(({ asides }) => [...asides.values()]),
    });
    for (const handlers of [skips, ...all.map((part) => part.handlers)]) Object.assign(this.#handlers, handlers);
    return damageIn(log.report);
  }

  /** Recovers; if a stage fails, the daemon stays up and waits for the operator. */
  async recover(): Promise<void> {
    const { world, config, say, fleet } = this.#ports;
    const timeoutMs = config.recovery.stageTimeoutS * 1000;
    const report = (items: readonly ReportItem[]) => this.#report(items);
    const given = { work: this.#work(), clock: world.clock, timeoutMs, isHeldUp: () => fleet?.away !== undefined };
    this.#run = new RecoveryRun(this.#machine, { ...given, report, say });
    await this.#conclude(await this.#run.run());
  }

  /** D5 */
  #work(): StageWork {
    const { all, takenFiles } = this.#opened();
    return {
      DETECTING: () => this.#detect(),
      INVENTORYING: (progress) => this.#inventory(progress),
      RESTORING: async (progress) => {
        await claimTaken(this.#ports.world, all, progress);
        await takenFiles.unpack(progress);
        const items = await allOf(all.map(async (part) => (await part.stages.RESTORING?.(progress)) ?? []));
        return items.flat();
      },
      RECONCILING: async (progress) => {
        const items: ReportItem[] = [];
        for (const part of all) {
          items.push(...((await part.stages.RECONCILING?.(progress)) ?? []));
          progress();
        }
        return items;
      },
    };
  }

  async #inventory(progress: () => void): Promise<ReportItem[]> {
    const items: ReportItem[] = [];
    for (const part of this.#opened().all) {
      const folded = await part.fold((reading) => {
        this.#reading = reading;
        progress();
      });
      this.#reading = null;
      items.push(...folded);
      progress();
    }
    await this.#opened().times.begin();
    return items;
  }

  /** The cause is found once: a second look finds no marker of a clean end. */
  async #detect(): Promise<ReportItem[]> {
    this.#cause ??= detectCause(this.#ports.world);
    await removeCleanEnd(this.#ports.world);
    this.#crash = this.#news.detect(this.#cause.cause === "daemon crash");
    return [];
  }

  /** WD-6, SM-4: from the watchdog. */
  announce(news: News): void {
    this.#news.publish(news);
  }

  async #report(items: readonly ReportItem[], why: Cause = this.#cause ?? { cause: "clean start" }): Promise<void> {
    const { world, bus } = this.#ports;
    const report = shortened({
      at: new Date(world.clock.now()).toISOString(),
      ...why,
      crash: why.cause === "daemon crash" ? this.#crash : null,
      items: why.cause === "taken over" ? this.#opened().takenFiles.told(items) : items,
      log: this.#opened().log.report,
      tookMs: why.cause === "holder crash" ? 0 : this.#took(),
    });
    await this.#reports.add(report);
    bus.publish("recovery.reported", report);
  }

  #took(): number {
    return Math.round(this.#ports.world.clock.elapsed() - this.#begun);
  }

  async #conclude(outcome: RunOutcome): Promise<void> {
    const { say } = this.#ports;
    if (outcome.kind === "failed") {
      say(`recovery failed in ${outcome.stage}: ${outcome.reason}. Next: holdfast recovery retry`);
      return;
    }
    const { all, garbage } = this.#opened();
    for (const part of all) part.goLive();
    this.#news.goLive();
    garbage.start();
    say(`live after ${this.#took()} ms (${this.#cause?.cause}, ${outcome.items.length} checked)`);
  }

  #opened(): Opened {
    if (this.#parts === undefined) throw new Error("the storage is not open yet");
    return this.#parts;
  }

  /** Concurrent callers share one retry. */
  async #retryAlone(): Promise<Result<{ stage: string }>> {
    this.#retrying ??= this.#retry();
    try {
      return await this.#retrying;
    } finally {
      this.#retrying = undefined;
    }
  }

  async #retry(): Promise<Result<{ stage: string }>> {
    if (this.#run === undefined || retriedStage(this.#machine.getCurrentStage()) === undefined) {
      return ok({ stage: this.#machine.getCurrentStage() });
    }
    const outcome = await this.#run.retry();
    if (!outcome.ok) return outcome;
    await this.#conclude(outcome.value);
    return ok({ stage: this.#machine.getCurrentStage() });
  }

  async #leaveSafeMode(): Promise<Result<{ active: boolean }>> {
    const durable = await this.#ports.safeMode.exit();
    for (const part of durable && this.isLive ? this.#opened().all : []) await part.leftSafeMode?.();
    return durable ? ok({ active: false }) : STILL_SAFE;
  }

  async #collect(dryRun: boolean): Promise<Result<GcResult>> {
    if (!this.isLive) return NOT_LIVE;
    return this.#pin.isActive && !dryRun ? BACKUP_RUNS : ok(await this.#opened().garbage.collect(dryRun));
  }

  async #pinned(given: Given): Promise<Result<unknown>> {
    const params = paramsOf("backup", given);
    if (!this.isLive) return NOT_LIVE;
    return params.ok ? this.#pin.step(params.value) : params;
  }

  /** Nothing while the logs are not read. */
  #attention(given: Given): Result<unknown> {
    const params = paramsOf("attention", given);
    const all = () => (this.isLive ? this.#opened().all : []).flatMap((part) => [...(part.attention?.() ?? [])]);
    return params.ok ? ok(listed(numbered(all), params.value, this.#ports.pages)) : params;
  }

  #status(): StatusResult {
    const { world, version, safeMode, live } = this.#ports;
    const [mode, none] = [safeMode.state, { terminals: 0, workflows: 0, agents: 0, prompts: 0 }];
    const { disk, ...others } = this.#ports.others();
    const blocked = this.#parts?.log.blocked; // A disk that works again is not used before it is tried again.
    return {
      ...{ version, home: world.home, ...others },
      disk: disk ?? (blocked === undefined ? null : diskTrouble(blocked)),
      daemon: { pid: world.processes.pid, startedAt: this.#startedAt },
      recovery: {
        stage: this.#machine.getCurrentStage(),
        attempt: this.#machine.attemptCount,
        report: this.#reports.name,
        progress: this.#progress,
        reading: this.#reading,
        takenFrom: this.#cause?.from ?? null,
      },
      safeMode: { active: mode.active, reason: mode.active ? mode.reason : null },
      troubles: (this.isLive ? this.#opened().all : [])
        .flatMap((part) => part.troubles?.() ?? [])
        .slice(0, MAX_TROUBLES),
      counts: Object.assign(none, ...(this.#parts?.all.map((part) => part.counts()) ?? [])),
      config: live.file,
      fleet: this.#ports.fleet?.status() ?? null,
    };
  }

  /** D2 */
  async stop(): Promise<void> {
    this.#server?.hide();
    this.#ports.fleet?.leave();
    this.#parts?.garbage.stop();
    await Promise.all(this.#parts?.all.map((part) => part.stop()) ?? []); // D5
    await this.#parts?.times.tend(); // A clock that is set before the next start is noticed only by this record.
    await this.#parts?.log.close();
    await this.#ports.fleet?.finish();
    this.#server?.close(); // Only now: what became durable in the meantime was still acknowledged.
    await this.#reports.tend();
    const isClean = this.isLive && this.#parts?.log.hasStopped !== true;
    await this.#tolerating(() => (isClean ? writeCleanEnd(this.#ports.world) : this.#machine.reset()));
  }
}
