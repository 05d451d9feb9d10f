// One life of a daemon on the simulated machine, as far as workflows go: the real log, turn, engine, attempts, checkpoints and recovery.
import { type Result, refused } from "../../src/base/result.ts";
import type { WorkflowCommand } from "../../src/core/workflow/commands.ts";
import type { Run } from "../../src/core/workflow/run.ts";
import type { StepAgents } from "../../src/daemon/agent/for-steps.ts";
import { foldWorkflows } from "../../src/daemon/fold.ts";
import type { DaemonPorts } from "../../src/daemon/ports.ts";
import type { StageWork } from "../../src/daemon/recovery-run.ts";
import { atOnce } from "../../src/daemon/slices.ts";
import type { TerminalHolders } from "../../src/daemon/terminal/holders.ts";
import { openWorkflows, type WorkflowPart } from "../../src/daemon/workflow/part.ts";
import { withWorkflows } from "../../src/daemon/workflow/recovery.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { Born, Machine } from "../sim/machine.ts";
import type { Life } from "../sim/mortal.ts";

const SMALL_LOG = { segmentBytes: 64 << 10, ballastBytes: 0 };
const ROUND_MS = 2_000;
/** Nobody here can be given to an agent. */
const NO_AGENTS: StepAgents = {
  agent: () => undefined,
  owned: () => [],
  isSetAside: () => false,
  create: async () => refused("unknown-provider", "There is no provider.", "There is none here."),
  terminate: async () => refused("unknown", "There is no agent.", "There is none here."),
};
const none = async () => [];
const NOTHING_ELSE: StageWork = { DETECTING: none, INVENTORYING: none, RESTORING: none, RECONCILING: none };

export class SimDaemon {
  readonly life: Life;
  readonly part: WorkflowPart;

  /** Resolves when it is live; never, where it dies before. */
  static async begin(machine: Machine, born: Born): Promise<SimDaemon> {
    const log = await EventLog.open(machine.doors(born), SMALL_LOG);
    const daemon = new SimDaemon(machine, born, log);
    const { part } = daemon;
    const say = (words: string) => machine.failed(new Error(words));
    const setAside = atOnce(foldWorkflows(log, part.store, { ...part, say }));
    if (setAside.length > 0) throw new Error(`set aside: ${JSON.stringify(setAside)}`);
    part.checkpoints.begin(part.store.states.values());
    // Runs here all have the policy `auto`, for which that makes no difference.
    const work = withWorkflows(NOTHING_ELSE, { ...part, setAside, wasDown: () => false });
    await work.RESTORING(() => undefined);
    await work.RECONCILING(() => undefined);
    daemon.#goRounds(machine, born);
    part.checkpoints.startPolling();
    return daemon;
  }

  private constructor(machine: Machine, born: Born, log: EventLog) {
    const { life } = born;
    this.life = life;
    const self = { environment: () => ({}), command: () => ["bun"] as const, bundle: async () => undefined };
    const onBug = (error: unknown) => {
      if (!life.dead) machine.failed(error);
    };
    const holders = { programs: { command: () => ({ runtime: "bun", entry: "holder" }) } } as unknown as TerminalHolders;
    const ports = {
      world: { ...machine.doors(born), self },
      bus: { publish: () => undefined },
      config: { terminal: { envAllow: [], envDeny: [] }, agents: { slots: 1 }, provider: {} },
      safeMode: { isActive: () => false },
      say: (words: string) => onBug(new Error(words)),
      onBug,
    } as unknown as DaemonPorts;
    this.part = openWorkflows(log, holders, ports, NO_AGENTS);
  }

  /** As the real one does on every heartbeat. */
  #goRounds(machine: Machine, born: Born): void {
    machine.doors(born).clock.after(ROUND_MS, () => {
      this.#goRounds(machine, born);
      this.part.engine.round();
    });
  }

  run(id: string): Run | undefined {
    return this.part.store.states.get(id);
  }

  submit(command: WorkflowCommand): Promise<Result<Run>> {
    return this.part.store.submit(command);
  }
}
