// The story that crashes interrupt: a root spawns a child, which asks for a permission, writes to it and completes; a
// bare LLM calls a tool and is reminded; in the end the root is terminated.
import { AgentSimulation, creation, type End, type SimCrash } from "./sim-drive.ts";

export const ROOT = "a".repeat(32);
export const MODEL = "b".repeat(32);

const call = (tool: string, args: object) => `>> call ${tool} ${JSON.stringify(args)}`;
const KID = [
  ">> ask Bash k1",
  ">> note k2",
  call("send_message", { to: "parent", text: ">> note r2" }),
  call("complete", { result: ">> note r3" }),
].join("\n");
const BEGIN = [call("spawn_agent", { name: "kid", instructions: KID }), ">> note r1"].join("\n");
const ASKED = [call("list_children", {}), call("remind_me", { in_seconds: 1, text: "Enough." })].join("\n");

export function story(): AgentSimulation {
  const simulation = new AgentSimulation();
  simulation.wish(
    creation(ROOT, "scripted", BEGIN),
    creation(MODEL, "openai", ASKED),
    { kind: "send", id: ROOT, message: "m1".repeat(16), payload: ">> note u1", replyTo: undefined },
    { kind: "terminate", id: ROOT, reason: "enough" },
  );
  return simulation;
}

export type Told = { readonly end: End; readonly simulation: AgentSimulation };

export function tell(...crashes: readonly SimCrash[]): Promise<Told> {
  return told(story(), crashes);
}

/** Its programs answer everything at once, so that output arrives while earlier events are being written. */
export function tellEagerly(...crashes: readonly SimCrash[]): Promise<Told> {
  const simulation = story();
  simulation.machine.agents.eager = true;
  return told(simulation, crashes);
}

const LOOP = [1, 2, 3, 4, 5, 6, 7].map((number) => `>> crash ${number}`);

/** A program that crashes seven times: after five within a minute, only a person restarts it (SP-2). */
export function tellOfCrashes(...crashes: readonly SimCrash[]): Promise<Told> {
  const simulation = new AgentSimulation();
  simulation.wish(creation(ROOT, "scripted", [...LOOP, ">> note r1"].join("\n")));
  return told(simulation, crashes);
}

async function told(simulation: AgentSimulation, crashes: readonly SimCrash[]): Promise<Told> {
  for (const crash of crashes) await simulation.crash(crash);
  return { end: await simulation.finish(), simulation };
}
