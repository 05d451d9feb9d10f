// The archive of agents that have ended (daemon/archive.ts).
// AA1. An agent is archived when it, and all agents below it, are over for good (core/agent/gone.ts). They go one by
//      one, not as a tree: the tree has only live agents, a message is sent only to a live one, and nothing that one
//      has left refers to the files of another.
// AA2. One that has ended cannot change any more; a request to it is refused with the reason. Its id stays taken.
// AA3. It is in no list, as before; its full id finds it. A prompt finds the agent that asked.
import type { Json } from "../../base/json.ts";
import { type Agent, agentSession } from "../../core/agent/agent.ts";
import { overForGood } from "../../core/agent/gone.ts";
import { askerIn, askerRow } from "../../wire/rpc/listed-agent.ts";
import { Archive, type ArchivePorts } from "../archive.ts";
import type { AgentCheckpoints } from "./checkpoints.ts";
import type { SessionRecords } from "./records.ts";
import { type AgentStore, type Agents, agentFolding } from "./store.ts";

type Ports = Omit<ArchivePorts<Agents>, "store"> & {
  readonly store: AgentStore;
  readonly checkpoints: AgentCheckpoints;
  readonly records: SessionRecords;
  /** Whether nothing works on it. */
  isQuiet(agent: Agent): boolean;
};

export class AgentArchive extends Archive<Agents> {
  readonly #store: AgentStore;

  constructor(ports: Ports) {
    const { store, checkpoints, records, isQuiet } = ports;
    super(ports, {
      folding: agentFolding(checkpoints),
      session: ({ id }) => agentSession(id),
      over: () => overForGood(store.states.values()), // AA1
      endedAt: (record) => (record.kind === "agent" ? (record.terminated?.at ?? null) : null),
      isQuiet: (id) => {
        const agent = store.agent(id);
        return agent !== undefined && isQuiet(agent) && records.isQuiet(id) && checkpoints.isQuiet(id);
      },
      row: (record): Json => (record.kind === "agent" ? askerRow(record) : null), // AA3
      forget: (id) => {
        checkpoints.forget(id);
        records.forget(id);
      },
    });
    this.#store = store;
  }

  /** Its durable state, also if it is archived. */
  agent(id: string): Agent | undefined {
    const found = this.#store.settled(id) ?? this.look(id);
    return found?.kind === "agent" ? found : undefined;
  }

  /** AA3. The archived agent that asked this. */
  askerOf(prompt: string): string | undefined {
    for (const row of this.rowsWith([prompt])) {
      const asker = askerIn(row, prompt);
      if (asker !== undefined) return asker;
    }
    return undefined;
  }
}
