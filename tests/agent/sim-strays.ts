// What no crash of ours leaves behind, but other damage may: a session without an agent, and an agent whose parent is
// gone (AG-2). The whole daemon reports them, in two lives.
import type { AgentEvent } from "../../src/core/agent/events.ts";
import type { ReportItem } from "../../src/core/recovery.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { readWhole } from "../../src/log/file/file.ts";
import { listQuarantine } from "../../src/log/file/quarantine.ts";
import { LogView } from "../../src/log/inspect.ts";
import { Client } from "../sim/holdfast/client.ts";
import { HoldfastMachine } from "../sim/holdfast/machine.ts";
import { HOME } from "../sim/machine.ts";
import { AgentFixture } from "./house.ts";
import { agentLogsOf } from "./sim-oracle.ts";

const LOG = { segmentBytes: 2 << 20, ballastBytes: 0 };
const ORPHAN = "a".repeat(32);
const PARENT = "b".repeat(32);
const CHILD = "c".repeat(32);

/** What is wrong with their outcome; empty if nothing is. */
export async function strays(): Promise<string[]> {
  const machine = new HoldfastMachine(1);
  await leave(machine, [...of(ORPHAN, "session.created"), ...of(CHILD)]);
  const wrong: string[] = [];
  const reports = [await reportOf(machine), await reportOf(machine)];
  const told = reports.map((items) => items.map(({ id, fate }) => `${id.slice(0, 1)} ${fate}`).sort());
  const should = [["a could not", "c needs you"], ["c needs you"]];
  if (JSON.stringify(told) !== JSON.stringify(should)) wrong.push(`strays are reported as ${JSON.stringify(told)}`);
  const ends = agentLogsOf(new LogView(machine.disk, HOME))
    .get(ORPHAN)
    ?.filter(({ event }) => event === "agent.terminated");
  if (ends?.length !== 1 || ends[0]?.data["by"] !== "orphan") wrong.push(`the orphan ends: ${JSON.stringify(ends)}`);
  return [...wrong, ...setAsideWrong(machine)];
}

/** Its log is in quarantine once, with a note. */
function setAsideWrong({ disk }: HoldfastMachine): string[] {
  const kept = listQuarantine(disk, HOME);
  const [first] = kept;
  const text = first && Buffer.from(readWhole(disk, first.path) ?? []).toString();
  const isWhole = kept.length === 1 && first?.notes.length === 1 && text?.includes('"event":"session.created"');
  return isWhole ? [] : [`of the orphan is in quarantine: ${JSON.stringify(kept)}`];
}

/** The events of a newly created child of PARENT; all, or one of them. */
function of(id: string, only?: AgentEvent["event"]): AgentEvent[] {
  const fixture = new AgentFixture();
  fixture.create(PARENT);
  fixture.create(id, { parent: PARENT });
  return fixture.events.filter((event) => event.id === id && (only === undefined || event.event === only));
}

async function leave(machine: HoldfastMachine, events: readonly AgentEvent[]): Promise<void> {
  const born = machine.born();
  const log = await machine.during(EventLog.open(machine.doors(born), LOG));
  const ts = new Date(machine.clock.now()).toISOString();
  const appended = log.append(events.map(({ id, event, data }) => ({ session: `agents/${id}`, ts, event, data })));
  if (!appended.ok) throw new Error(appended.error.message);
  await machine.during(appended.value.durable);
  born.life.end();
}

async function reportOf(machine: HoldfastMachine): Promise<ReportItem[]> {
  const daemon = machine.begin();
  const client = new Client(machine);
  await machine.during(client.live());
  const report = await machine.during(client.ask("recovery.report", { name: null }));
  daemon.stop();
  await machine.during(new Promise<void>((left) => daemon.born.life.onEnd(left)));
  return (report?.items ?? []).filter(({ fate }) => fate !== "back as it was");
}
