// One life of a daemon on the simulated machine, for workflows: the real log, turn, engine, attempts, checkpoints and
// recovery.
import { type Result, refused } from "../../src/base/result.ts";
import type { WorkflowCommand } from "../../src/core/workflow/commands.ts";
import type { Run } from "../../src/core/workflow/run.ts";
import type { StepAgents } from "../../src/daemon/agent/for-steps.ts";
import type { PartPorts } from "../../src/daemon/part.ts";
import { openWorkflows, type WorkflowPart } from "../../src/daemon/workflow/part.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { Born, Machine } from "../sim/machine.ts";
import type { Life } from "../sim/mortal.ts";

const SMALL_LOG = { segmentBytes: 64 << 10, ballastBytes: 0 };
const ROUND_MS = 2_000;
/** There are no agents here. */
const NO_AGENTS: StepAgents = {
  agent: () => undefined,
  owned: () => [],
  isSetAside: () => false,
  create: async () => refused("unknown-provider", "There is no provider.", "There is none here."),
  terminate: async () => refused("unknown", "There is no agent.", "There is none here."),
};

export class SimDaemon {
  readonly life: Life;
  readonly part: WorkflowPart;

  /** Resolves when it is live; never if it dies before. */
  static async begin(machine: Machine, born: Born): Promise<SimDaemon> {
    const log = await EventLog.open(machine.doors(born), SMALL_LOG);
    const daemon = new SimDaemon(machine, born, log);
    const { part } = daemon;
    const setAside = await part.fold(() => undefined);
    if (setAside.length > 0) throw new Error(`set aside: ${JSON.stringify(setAside)}`);
    for (const stage of ["RESTORING", "RECONCILING"] as const) await part.stages[stage]?.(() => undefined);
    daemon.#goRounds(machine, born);
    part.goLive();
    return daemon;
  }

  private constructor(machine: Machine, born: Born, log: EventLog) {
    const { life } = born;
    this.life = life;
    const self = { environment: () => ({}), command: () => ["bun"] as const, holder: async () => undefined };
    const onBug = (error: unknown) => {
      if (!life.dead) machine.failed(error);
    };
    const holderCommand = () => ({ runtime: "bun", entry: "holder" });
    const ports = {
      world: { ...machine.doors(born), self },
      bus: { publish: () => undefined },
      config: { terminal: { envAllow: [], envDeny: [] }, agents: { slots: 1 }, provider: {} },
      safeMode: { isActive: () => false },
      say: (words: string) => onBug(new Error(words)),
      onBug,
      log,
      isLive: () => true,
    } as unknown as PartPorts;
    this.part = openWorkflows(ports, { holderCommand, agents: NO_AGENTS });
  }

  /** As the real one does on every heartbeat. */
  #goRounds(machine: Machine, born: Born): void {
    machine.doors(born).clock.after(ROUND_MS, () => {
      this.#goRounds(machine, born);
      this.part.tick();
    });
  }

  run(id: string): Run | undefined {
    return this.part.store.states.get(id);
  }

  submit(command: WorkflowCommand): Promise<Result<Run>> {
    return this.part.store.submit(command);
  }
}
