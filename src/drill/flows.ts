// The workflows of a drill, one of each mode: every step writes a line to a file, and the last one a line with the
// values of
// the others. So whatever is left out, done twice or forgotten shows in that file.
import { newId } from "../base/ids.ts";
import { joinPath } from "../base/path.ts";
import { writeAtomic } from "../log/file/atomic-file.ts";
import { readWhole } from "../log/file/file.ts";
import type { ListedRun } from "../wire/rpc/workflow.ts";
import { ask } from "./ask.ts";
import { until } from "./going.ts";
import { DRILL_VARIABLE, type Site } from "./site.ts";

export const MODES = ["standard", "iterative", "map-reduce"] as const;
export type Mode = (typeof MODES)[number];

/** A requested run: the file for its lines, and the lines expected at its end. */
export type FlowRun = {
  readonly id: string;
  readonly mode: Mode;
  readonly effects: string;
  readonly expected: readonly string[];
};

const STEPS = [1, 2, 3, 4];
const ITERATIONS = [1, 2, 3];
export const ITEMS = [1, 2, 3, 4];

/** `gate`: what a step does between its line and its end. `more`: what else the file says about the step. */
export type FlowText = { readonly gate: string; readonly more: Readonly<Record<Mode, string>> };

function step(indent: string, line: string, says: string, { gate, more }: FlowText, mode: Mode): string[] {
  const rest = [
    `capture: ${mode === "standard" ? `x${line.slice(1)}` : "x"}`,
    ...(more[mode] === "" ? [] : [more[mode]]),
  ];
  return [`${indent}- shell: echo ${line} >> $\{to}; ${gate}; echo ${says}`, ...rest.map((key) => `${indent}  ${key}`)];
}

function textOf(mode: Mode, text: FlowText): string[] {
  const end = (indent: string, values: string) => `${indent}- shell: echo end ${values} >> $\{to}`;
  if (mode === "standard") {
    const all = STEPS.map((at) => `$\{x${at}}`).join("-");
    return ["steps:", ...STEPS.flatMap((at) => step("  ", `s${at}`, String(at), text, mode)), end("  ", all)];
  }
  if (mode === "iterative") {
    const counting = step("  ", "i${iteration}", "${default(x, 0)}-${iteration}", text, mode);
    const head = [
      "mode: iterative",
      `max_iterations: ${ITERATIONS.length}`,
      `until: iteration == ${ITERATIONS.length}`,
    ];
    return [...head, "steps:", ...counting, end("  ", "${x}"), `    when: iteration == ${ITERATIONS.length}`];
  }
  const items = [`  input: { command: seq ${ITEMS.length} }`, `  max_parallel: ${ITEMS.length}`, "  steps:"];
  const map = step("    ", "m${item}", "${item}", text, mode);
  return ["mode: mapreduce", "map:", ...items, ...map, "reduce:", end("  ", "${map.successful} of ${map.results}")];
}

function expectedOf(mode: Mode): string[] {
  if (mode === "standard") return [...STEPS.map((at) => `s${at}`), `end ${STEPS.join("-")}`];
  if (mode === "iterative") return [...ITERATIONS.map((at) => `i${at}`), `end 0-${ITERATIONS.join("-")}`];
  const results = JSON.stringify(ITEMS.map(String));
  return [...ITEMS.map((at) => `m${at}`), `end ${ITEMS.length} of ${results}`];
}

export function directoryOf({ home }: Site): string {
  return joinPath(home, "flows");
}

/** Writes the files of all modes; `name` distinguishes one set from another. */
export async function writeFlows(site: Site, name: string, text: FlowText): Promise<void> {
  const { disk } = site.world;
  disk.makeDirectory(directoryOf(site));
  for (const mode of MODES) {
    const lines = [`name: ${name}-${mode}`, "parameters: { to: { required: true } }", ...textOf(mode, text), ""];
    await writeAtomic(disk, pathOf(site, name, mode), Buffer.from(lines.join("\n")));
  }
}

function pathOf(site: Site, name: string, mode: Mode): string {
  return joinPath(directoryOf(site), `${name}-${mode}.yml`);
}

const ASK_MS = 60_000;

/** Retries until the run is acknowledged: the id is ours, so that repeats create only one. */
export async function beginRun(site: Site, name: string, mode: Mode): Promise<FlowRun | undefined> {
  const { world, home } = site;
  const id = newId(world.random.bytes(16));
  const effects = joinPath(directoryOf(site), `${id}.effects`);
  const { PATH: path = "/usr/bin:/bin" } = world.self.environment();
  const env = { PATH: path, [DRILL_VARIABLE]: home };
  const place = { path: pathOf(site, name, mode), cwd: directoryOf(site) };
  const begun = await until(world.clock, ASK_MS, async () => {
    const asked = await ask(site, "workflow.run", { id, ...place, texts: { to: effects }, values: {}, env });
    return asked.kind === "done" ? asked.value : undefined;
  });
  return begun && { id, mode, effects, expected: expectedOf(mode) };
}

/** The lines that it has written so far. */
export function linesOf({ world }: Site, { effects }: FlowRun): string[] {
  const bytes = readWhole(world.disk, effects);
  return bytes === undefined
    ? []
    : Buffer.from(bytes)
        .toString("utf8")
        .split("\n")
        .filter((line) => line !== "");
}

/** The daemon's view of it; undefined if no daemon answers. */
export async function shown(site: Site, { id }: Pick<FlowRun, "id">): Promise<ListedRun | undefined> {
  const asked = await ask(site, "workflow.show", { id, from: 0 });
  return asked.kind === "done" ? asked.value : undefined;
}

/** Cancels what is still running: at the end of a drill nothing may be left. */
export async function cancelRuns(site: Site): Promise<void> {
  const listed = await ask(site, "workflow.list", {});
  const open = listed.kind === "done" ? listed.value.filter(({ state }) => !OVER.includes(state)) : [];
  for (const { id } of open) await ask(site, "workflow.cancel", { id });
}

export const OVER: readonly string[] = ["done", "done_with_failures", "failed", "cancelled", "interrupted"];
