// What steps left in the world: a file to which every execution of a step appended a line, `<workflow> <step>`.

/** How often each workflow began a step, any step. */
export function begun(text: string): ReadonlyMap<string, number> {
  return counted(linesOf(text).map(([workflow]) => workflow));
}

/** How many workflows have reached this step. */
export function reached(text: string, step: number): number {
  return new Set(linesOf(text).flatMap(([workflow, number]) => (number === step ? [workflow] : []))).size;
}

/** How many steps were executed more than once. */
export function executedTwice(text: string): number {
  const executions = counted(linesOf(text).map(([workflow, step]) => `${workflow} ${step}`));
  return [...executions.values()].filter((times) => times > 1).length;
}

/** Whole lines only: the last one may be half written. */
function linesOf(text: string): [workflow: string, step: number][] {
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line) => {
    const [workflow = "", step = ""] = line.split(" ");
    return [workflow, Number(step)];
  });
}

function counted(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
