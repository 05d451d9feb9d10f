// Holders: each running terminal has a holder that answers, and each holder has a terminal.
// DH1. A holder that was started a moment ago may belong to a terminal recorded after we read the log: it is not judged
//      yet.

import { joinPath } from "../../base/path.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { readHolder, terminalFiles } from "../../home/held/holder-files.ts";
import { TERMINALS } from "../../home/layout.ts";
import type { HolderStatus } from "../../wire/holder/protocol.ts";
import { count } from "../print.ts";
import { askHolder } from "../terminal/reconnecting-holder.ts";
import { unrecorded } from "../troubles.ts";
import { type Finding, fine, problem, type Site, some, warning } from "./check.ts";

/** DH1 */
const FRESH_MS = 5_000;

export async function checkHolders(site: Site): Promise<Finding[]> {
  const terminals = await site.terminals;
  const running = terminals.filter(({ state }) => state.kind === "running");
  const answers = await askAll(site, running);
  const silent = running.filter((_, at) => answers[at] === undefined);
  const deaf = running.flatMap(({ name }, at) => unrecordedOnes(name, answers[at]));
  const found = [...silentOnes(silent), ...deaf, ...uncertainOnes(terminals), ...strays(site, terminals)];
  if (found.length > 0) return found;
  const words =
    running.length === 0 ? "no terminal is running" : `${count(running.length, "terminal")}, each holder answers`;
  return [fine("holders", words)];
}

function askAll({ world, home }: Site, running: readonly Terminal[]): Promise<(HolderStatus | undefined)[]> {
  return Promise.all(running.map(({ id }) => askHolder(world, terminalFiles(world.disk, home, id))));
}

/** Its holder keeps the newest output in memory. */
function unrecordedOnes(name: string, answer: HolderStatus | undefined): Finding[] {
  if (answer === undefined || answer.trouble === null) return [];
  const { what, next } = unrecorded(name, answer.trouble);
  return [problem("holders", { what, why: "its tape cannot be written, or its last sync failed", next })];
}

function silentOnes(silent: readonly Terminal[]): Finding[] {
  if (silent.length === 0) return [];
  return [
    problem("holders", {
      what: `${count(silent.length, "unresponsive holder")} of running terminals: ${namesOf(silent)}`,
      why: "the process exists, but hangs or has lost its socket",
      next: "holdfast logs; `holdfast kill NAME` ends one that hangs",
    }),
  ];
}

function uncertainOnes(terminals: readonly Terminal[]): Finding[] {
  const uncertain = terminals.filter(({ state }) => state.kind === "uncertain");
  if (uncertain.length === 0) return [];
  const why = uncertain[0]?.state.kind === "uncertain" ? uncertain[0].state.reason : "";
  const what = `lost, and waiting for you: ${count(uncertain.length, "terminal")} (${namesOf(uncertain)})`;
  return [warning("holders", { what, why, next: `holdfast restore ${uncertain[0]?.name ?? "NAME"}` })];
}

function namesOf(terminals: readonly Terminal[]): string {
  return some(terminals.map(({ name }) => name));
}

/** Claims of living holders whose terminal has ended or does not exist. */
function strays({ world, home }: Site, terminals: readonly Terminal[]): Finding[] {
  const wanted = new Set(terminals.filter(({ state }) => state.kind !== "ended").map(({ id }) => id));
  const before = world.clock.now() - FRESH_MS;
  const pids = world.disk.list(joinPath(home, TERMINALS)).flatMap((id) => {
    const holder = wanted.has(id) ? undefined : readHolder(terminalFiles(world.disk, home, id));
    if (holder === undefined || Date.parse(holder.at) > before) return []; // DH1
    return world.processes.alive(holder) ? [holder.pid] : [];
  });
  if (pids.length === 0) return [];
  const what = `${count(pids.length, "holder")} without a terminal: process ${some(pids.map(String))}`;
  const why = "its terminal has ended or was removed, but the holder is still running";
  return [warning("holders", { what, why, next: `Look first: ps -fp ${pids[0]}` })];
}
