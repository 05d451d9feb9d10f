// agent.restart.1000: the daemon is killed with SIGKILL while 1,000 agents live, each with a process that has had a
// turn and rests, until the status of another daemon says LIVE; the peer is recovery.daemon.25 of the same run.
// RA1. After each kill every agent is there, with the very process that it had: anything else breaks the benchmark.
// Not measured: agents in mid-turn, long histories (agent.recover).
import { AgentHome, CONFIG } from "./agent-home.ts";
import { Home } from "./home.ts";
import { childrenOf, processesOf, startOf } from "./processes.ts";
import { besideFew } from "./recovery-daemon.ts";
import type { Row } from "./row.ts";
import type { Bench } from "./scratch.ts";

const NAME = "agent.restart.1000";

export async function agentRestart(_: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const count = bench.quick ? 50 : 1000;
  const home = await Home.start(bench, "agent-restart", CONFIG);
  try {
    const agents = await AgentHome.open(home);
    await agents.make(count);
    agents.close();
    emit(await besideFew(bench, NAME, home, (of) => processes(of, count)));
  } finally {
    home.cut();
  }
}

/** RA1, as one text. */
async function processes(home: Home, count: number): Promise<string> {
  const agents = (await home.status())?.counts.agents;
  const holders = processesOf(home.path).filter(({ words }) =>
    words.some((word) => word.startsWith(`${home.path}/agents/`)),
  );
  const programs = holders.flatMap(({ pid }) => childrenOf(pid).map((child) => `${child} since ${startOf(child)}`));
  if (agents !== count || programs.length !== count)
    throw new Error(`${agents} agents with ${programs.length} processes are there, not ${count}`);
  return programs.sort().join("; ");
}
