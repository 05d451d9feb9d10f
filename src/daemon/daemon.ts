// The daemon: opens the log, folds it, recovers, and then takes commands. One for a home (flock).
// D1. The socket answers from the start: looking works during recovery, changing does not (handlers.ts, H1).
// D2. A clean end finishes what was begun, leaves the children to their holders, and says on disk that it was clean. One in the middle
//     of a recovery is none: the next start looks at everything from the start.
// D3. What of ours in run/ is removed from under us comes back by itself.
// D4. A disk that does not take a note (report, marker) is complained about; it stops neither a recovery nor a daemon that is live.
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { type ReportItem, retriedStage } from "../core/recovery.ts";
import type { Terminal } from "../core/terminal/terminal.ts";
import { homeToken, keepToken, readReport, writeReport, writeSmall } from "../home/small-files.ts";
import { type JsonObject, readJson } from "../log/file/json-file.ts";
import type { LogReport } from "../log/recover.ts";
import type { Report, StatusResult } from "../wire/rpc/rpc.ts";
import { agentConfigOf } from "./agent/config.ts";
import { agentHandlers, bearerHandlers, toolCaller } from "./agent/handlers.ts";
import { McpServer } from "./agent/mcp-server.ts";
import { countAgents } from "./agent/part.ts";
import { withAgents } from "./agent/recovery.ts";
import { openToolDoor } from "./agent/tool-door.ts";
import { foldTerminals, foldTmux, foldWorkflows, type Read, readingOf } from "./fold.ts";
import { seeAll, stopOrphans } from "./held/orphan-stop.ts";
import { endParts, goLive, openParts, type Parts } from "./parts.ts";
import type { DaemonPorts } from "./ports.ts";
import { RecoveryRun, type RunOutcome, type StageWork } from "./recovery-run.ts";
import { RecoveryStateMachine } from "./recovery-state.ts";
import { RpcServer } from "./rpc-server.ts";
import { inSlices } from "./slices.ts";
import { pinCheckpoint } from "./terminal/checkpoint-pin.ts";
import { makeHandlers } from "./terminal/handlers.ts";
import { CLEAN_MARKER, LAST_BOOT, LAST_CRASH, type Progress, recoveryWork, wasDown } from "./terminal/recovery.ts";
import { tmuxHandlers } from "./tmux/handlers.ts";
import { withTmux } from "./tmux/recovery.ts";
import { isOpen } from "./workflow/engine.ts";
import { workflowHandlers } from "./workflow/handlers.ts";
import { withWorkflows } from "./workflow/recovery.ts";

/** Heartbeats. Two small reads for each terminal: what started since the last look is told as doubtful where it becomes an orphan. */
const SEE_EVERY = 5;

export class Daemon {
  readonly #ports: DaemonPorts;
  readonly #startedAt: string;
  readonly #machine: RecoveryStateMachine;
  #token: string | undefined;
  #server: RpcServer | undefined;
  #mcp: McpServer | undefined;
  #parts: Parts | undefined;
  #run: RecoveryRun | undefined;
  #progress: Progress | undefined;
  #runs: Read = { kind: "unread" };
  #cause: Report["cause"] = "clean start";
  #crash: JsonObject | null = null;
  #reportName: string | null = null;
  #begun = 0;
  #tended = 0;
  #aside: ReadonlySet<string> = new Set();
  #retrying: Promise<Result<{ stage: string }>> | undefined;

  constructor(ports: DaemonPorts) {
    const { world, config } = ports;
    this.#ports = ports;
    this.#startedAt = new Date(world.clock.now()).toISOString();
    const place = { disk: world.disk, clock: world.clock, home: world.home, bootId: world.processes.bootId() };
    this.#machine = new RecoveryStateMachine(place, config.recovery.maxAttempts, (change) =>
      ports.bus.publish("recovery.stage.changed", change),
    );
  }

  /** D1 */
  async serve(): Promise<void> {
    const { world, version, bus, config } = this.#ports;
    const token = await homeToken(world.disk, world.random, world.home);
    this.#token = token;
    const handlers = makeHandlers({
      random: world.random,
      environment: { allow: config.terminal.envAllow, deny: config.terminal.envDeny },
      store: () => this.#parts?.store,
      holders: () => this.#parts?.holders,
      restorer: () => this.#parts?.restorer,
      isLive: () => this.isLive,
      status: () => this.#status(),
      report: (name) => readReport(world.disk, world.home, name),
      retry: () => this.#retryAlone(),
      leaveSafeMode: () => this.#leaveSafeMode(),
      gc: (dryRun) => this.#parts?.garbage.collect(dryRun),
    });
    const tmux = tmuxHandlers({
      ...world,
      live: () => (this.isLive ? this.#parts?.tmux : undefined),
      parts: () => this.#parts?.tmux,
    });
    const workflows = workflowHandlers({
      disk: world.disk,
      home: world.home,
      environment: { allow: config.terminal.envAllow, deny: config.terminal.envDeny },
      live: () => (this.isLive ? this.#parts?.workflows : undefined),
      parts: () => (this.#runs.kind === "read" ? this.#parts?.workflows : undefined),
    });
    const agentPorts = {
      ...{
        disk: world.disk,
        home: world.home,
        agentConfig: agentConfigOf(config),
        defaultProvider: config.agents.provider,
      },
      environment: { allow: config.terminal.envAllow, deny: config.terminal.envDeny },
      live: () => (this.isLive ? this.#parts?.agents : undefined),
      parts: () => this.#parts?.agents,
    };
    const caller = (bearer: string) => toolCaller(agentPorts, bearer);
    this.#mcp = new McpServer(world, { caller, say: this.#ports.say, onBug: this.#ports.onBug });
    const others = (bearer: string) => bearerHandlers(agentPorts, bearer);
    const who = { clock: world.clock, token, version, pid: world.processes.pid, others };
    const all = { ...handlers, ...tmux, ...workflows, ...agentHandlers(agentPorts) };
    const server = new RpcServer(all, bus, who);
    await server.listen(world.sockets, joinPath(world.home, "run/daemon.sock"));
    this.#server = server;
  }

  /** D3. Called on every heartbeat; what cannot be mended now is tried again by the next call. */
  async tend(): Promise<void> {
    const { world } = this.#ports;
    this.#tended += 1;
    await this.#tolerating(async () => {
      if (this.isLive) this.#goRound();
    });
    await this.#tolerating(async () => {
      if (this.#token !== undefined) await keepToken(world.disk, world.home, this.#token);
      await this.#server?.look(world.sockets);
      await this.#parts?.checkpoints.pulse();
    });
  }

  #seeAll(): string[] {
    return seeAll(this.#ports.world, this.#parts?.store.terminals.values() ?? []);
  }

  #goRound(): void {
    const { holders, workflows } = this.#opened();
    if (this.#tended % SEE_EVERY === 0) for (const id of this.#seeAll()) holders.lookAgain(id);
    holders.round();
    workflows.engine.round();
  }

  /** D4 */
  async #tolerating(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#ports.say(`${error.message}. ${error.hint}`);
    }
  }

  get isLive(): boolean {
    return this.#machine.getCurrentStage() === "LIVE";
  }

  /** The log and the state; says what it found damaged (DS-2). Throws a Fault where the storage does not let it. */
  async openStorage(): Promise<string[]> {
    this.#begun = this.#ports.world.clock.elapsed();
    this.#machine.resume();
    this.#parts = await openParts(this.#ports, {
      trusted: (terminals) => this.#trusted(terminals),
      report: (items) => this.#report(items, "holder crash"),
      born: () => this.#openMcp(),
    });
    return damageIn(this.#parts.log.report);
  }

  #trusted(terminals: Iterable<Terminal>): Terminal[] {
    return [...terminals].filter(({ id }) => !this.#aside.has(id));
  }

  /** Recovers; where a stage fails, the daemon stays up and waits for the operator. */
  async recover(): Promise<void> {
    const { world, config } = this.#ports;
    const { log, store, tmux, workflows, agents } = this.#opened();
    const setAside = foldTerminals(log, store);
    this.#aside = new Set(setAside.map(({ id }) => id));
    const withCares = withTmux(this.#work(setAside), {
      ...tmux,
      clock: world.clock,
      setAside: foldTmux(log, tmux.store),
      cares: () => tmux.store.states.values(),
    });
    const folding = foldWorkflows(log, workflows.store, { ...workflows, say: this.#ports.say });
    const runsAside = await inSlices(world.clock, folding, (so) => {
      this.#runs = { kind: "reading", ...so };
    });
    this.#runs = { kind: "read" };
    workflows.checkpoints.begin(workflows.store.states.values());
    const withRuns = withWorkflows(withCares, {
      ...workflows,
      setAside: runsAside,
      wasDown: () => wasDown(world),
    });
    const work = withAgents(withRuns, agents);
    const timeoutMs = config.recovery.stageTimeoutS * 1000;
    const report = (items: readonly ReportItem[]) => this.#report(items);
    this.#run = new RecoveryRun(this.#machine, { work, clock: world.clock, timeoutMs, report });
    await this.#conclude(await this.#run.run());
  }

  /** What the stages do about terminals and their checkpoint. */
  #work(setAside: readonly ReportItem[]): StageWork {
    const { world, bus } = this.#ports;
    const { store, holders, restorer, checkpoints, tmux } = this.#opened();
    const toldUpTo = readReport(world.disk, world.home, null)?.at ?? "";
    const stages = recoveryWork({
      place: world,
      store,
      holders,
      setAside,
      orphans: (terminals) => stopOrphans(world, terminals, { spared: tmux.keeper.servers() }),
      detected: (cause) => this.#detected(cause),
      prepare: () => this.#prepareRestoring(),
      restore: (terminal, reason) => restorer.restore(terminal, { reason, found: true, way: "plan", asked: false }),
      untold: (terminal) =>
        (terminal.restored?.at ?? "") > toldUpTo ? restorer.restoredItem(terminal.id, terminal) : undefined,
      waiting: (terminal) => restorer.waitingItem(terminal),
      progressed: (progress) => {
        this.#progress = progress;
        bus.publish("recovery.progress", progress);
      },
    });
    return {
      ...stages,
      INVENTORYING: async (progress) => [...(await stages.INVENTORYING(progress)), ...(await checkpoints.items())],
    };
  }

  /** The last good checkpoint is kept, and the holder's program made, before anything is started. */
  async #prepareRestoring(): Promise<void> {
    const { world } = this.#ports;
    const { holders } = this.#opened();
    await this.#tolerating(() => pinCheckpoint(world.disk, world.home, new Date(world.clock.now()).toISOString()));
    await holders.programs.make();
  }

  /** WD-6: the watchdog has no bus of its own; its record is read, and told here. One from before the last recovery was told then. */
  #detected(cause: Report["cause"]): void {
    const { world, bus } = this.#ports;
    this.#cause = cause;
    const crash = cause === "daemon crash" ? readJson(world.disk, joinPath(world.home, LAST_CRASH)) : undefined;
    const told = readReport(world.disk, world.home, null)?.at ?? "";
    if (crash?.["name"] !== "daemon" || String(crash["time"]) <= told) return;
    this.#crash = crash;
    bus.publish("recovery.crash.detected", crash);
  }

  async #report(items: readonly ReportItem[], cause = this.#cause): Promise<void> {
    const { world, bus } = this.#ports;
    const report: Report = {
      at: new Date(world.clock.now()).toISOString(),
      cause,
      crash: cause === "daemon crash" ? this.#crash : null,
      items,
      log: this.#opened().log.report,
      tookMs: this.#took(),
    };
    await this.#tolerating(async () => {
      this.#reportName = await writeReport(world.disk, world.home, report);
      await writeSmall(world.disk, world.home, LAST_BOOT, world.processes.bootId());
    });
    bus.publish("recovery.reported", report);
  }

  #took(): number {
    return Math.round(this.#ports.world.clock.elapsed() - this.#begun);
  }

  async #conclude(outcome: RunOutcome): Promise<void> {
    const { world, say } = this.#ports;
    if (outcome.kind === "failed") {
      say(`recovery failed in ${outcome.stage}: ${outcome.reason}. Next: holdfast recovery retry`);
      return;
    }
    const parts = this.#opened();
    goLive(parts);
    if (countAgents(parts.agents).agents > 0) this.#openMcp();
    if (!this.#ports.safeMode.isActive()) void parts.workflows.migration.firstAccess(world.self.environment());
    say(`live after ${this.#took()} ms (${this.#cause}, ${outcome.items.length} looked at)`);
    await parts.holders.programs.make();
  }

  /** From the first agent on. */
  #openMcp(): void {
    const open = async () => {
      await this.#mcp?.open();
      await openToolDoor(this.#ports.world, this.#server, this.#opened().agents.store);
    };
    void this.#tolerating(open).catch(this.#ports.onBug);
  }

  #opened(): Parts {
    if (this.#parts === undefined) throw new Error("the storage is not open yet");
    return this.#parts;
  }

  /** Who asks while it is being tried hears how that goes. */
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
    if (durable && this.isLive) await this.#parts?.agents.schedule();
    return durable ? ok({ active: false }) : STILL_SAFE;
  }

  #status(): StatusResult {
    const { world, version, safeMode } = this.#ports;
    const mode = safeMode.state;
    const terminals = [...(this.#parts?.store.allSettled() ?? [])].filter(({ removed }) => !removed).length;
    const read = this.#runs.kind === "read" ? this.#parts?.workflows.store.allSettled() : undefined;
    const runs = [...(read ?? [])].filter(isOpen).length;
    const counted = this.#parts === undefined ? { agents: 0, prompts: 0 } : countAgents(this.#parts.agents);
    return {
      version,
      home: world.home,
      ...this.#ports.others(),
      daemon: { pid: world.processes.pid, startedAt: this.#startedAt },
      recovery: {
        stage: this.#machine.getCurrentStage(),
        attempt: this.#machine.attemptCount,
        report: this.#reportName,
        progress: this.#progress ?? null,
        reading: readingOf("workflows", this.#runs) ?? readingOf("agents", this.#parts?.agents.read),
      },
      safeMode: { active: mode.active, reason: mode.active ? mode.reason : null },
      counts: { terminals, workflows: runs, ...counted },
    };
  }

  /** D2 */
  async stop(): Promise<void> {
    const { disk, home, clock, processes } = this.#ports.world;
    this.#server?.hide();
    await this.#mcp?.close();
    if (this.#parts !== undefined) await endParts(this.#parts);
    await this.#tolerating(async () => void this.#seeAll());
    await this.#parts?.log.close();
    this.#server?.close(); // Only now: what became durable meanwhile was still acknowledged.
    const clean = JSON.stringify({ at: new Date(clock.now()).toISOString(), bootId: processes.bootId() });
    await this.#tolerating(() => (this.isLive ? writeSmall(disk, home, CLEAN_MARKER, clean) : this.#machine.reset()));
  }
}

const STILL_SAFE = refused(
  "disk",
  "The disk did not take it: safe mode would be back after the next crash.",
  "`holdfast logs` says why. Free some space, then try again.",
);

/** What a person should hear of. A torn tail is not among it: it was never acknowledged. */
function damageIn({ lost, frozen, walMissing }: LogReport): string[] {
  return [
    ...lost.map(({ from, to }) => `the entries ${from} to ${to} are gone`),
    ...frozen.map(({ session, reason }) => `${session} is frozen: ${reason}`),
    ...(walMissing ? ["the write-ahead log was missing"] : []),
  ];
}
