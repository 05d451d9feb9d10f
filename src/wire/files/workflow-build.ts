// From a checked file to a definition: short forms are written out, and every step has an id.
// B1. An id that is made here follows from what the step does, not from where it stands: a step put before it does not rename it.

import type { Json } from "../../base/json.ts";
import type { Flow, MapInput, MapPhase, Parameter, Retry, Sort, Step, Work } from "../../core/workflow/definition.ts";
import { durationMs } from "./workflow-check.ts";
import { isYamlList, isYamlMap, plain, type SourcePosition, type YamlNode } from "./yaml-node.ts";

type Raw = Readonly<Record<string, Json | undefined>>;

const BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 60_000;
const PARALLEL = 4;

/** Where each step stands, by its id; what was built is in the file's order. */
export type Built = {
  readonly flow: Flow;
  readonly places: readonly { readonly id: string; readonly place: SourcePosition }[];
};

export function fieldOf(node: YamlNode | undefined, name: string): YamlNode | undefined {
  return node !== undefined && isYamlMap(node.value) ? node.value.get(name)?.node : undefined;
}

export function listOf(node: YamlNode | undefined): readonly YamlNode[] {
  return node !== undefined && isYamlList(node.value) ? node.value : [];
}

function rawOf(node: YamlNode): Raw {
  return plain(node) as Raw;
}

export function buildFlow(root: YamlNode): Built {
  const builder = new Builder();
  const flow = builder.flow(root);
  return { flow, places: builder.places };
}

class Builder {
  readonly places: { id: string; place: SourcePosition }[] = [];
  readonly #taken = new Set<string>();
  /** The number that each stem of made ids goes on with. */
  readonly #used = new Map<string, number>();

  flow(root: YamlNode): Flow {
    this.#takeGiven(root);
    const { mode, max_iterations, until } = rawOf(root);
    const steps = () => this.#steps(fieldOf(root, "steps"));
    if (mode === "iterative") {
      const most = max_iterations as number;
      return { mode, steps: steps(), max_iterations: most, ...(typeof until === "string" ? { until } : {}) };
    }
    if (mode !== "mapreduce") return { mode: "standard", steps: steps() };
    const setup = this.#steps(fieldOf(root, "setup"));
    return { mode, setup, map: this.#map(fieldOf(root, "map")), reduce: this.#steps(fieldOf(root, "reduce")) };
  }

  /** Ids that the file gives come first: one that is made here gives way to them. */
  #takeGiven(node: YamlNode): void {
    const id = fieldOf(node, "id")?.value;
    if (typeof id === "string") this.#taken.add(id);
    if (isYamlList(node.value)) for (const one of node.value) this.#takeGiven(one);
    if (isYamlMap(node.value)) for (const { node: inner } of node.value.values()) this.#takeGiven(inner);
  }

  #steps(node: YamlNode | undefined): Step[] {
    return listOf(node).map((one) => this.#step(one));
  }

  #step(node: YamlNode): Step {
    const raw = rawOf(node);
    const work = workOf(raw);
    const given = fieldOf(node, "id");
    const id = typeof given?.value === "string" ? given.value : this.#madeId(work);
    this.places.push({ id, place: given ?? node });
    const { when, cwd, env, on_uncertain, idempotent, continue_on_error } = raw;
    const timeout_ms = raw["timeout"] === undefined ? undefined : durationMs(raw["timeout"] as string | number);
    const on_failure = raw["on_failure"] === undefined ? undefined : this.#steps(fieldOf(node, "on_failure"));
    const optional = {
      when: when === undefined ? undefined : String(when),
      ...{ cwd, env, timeout_ms, retry: retryOf(raw["retry"]), on_failure, on_uncertain, idempotent },
      ...{ capture: captureOf(raw["capture"]), continue_on_error },
    };
    const present = Object.entries(optional).filter(([, value]) => value !== undefined);
    return { id, work, ...Object.fromEntries(present) } as Step;
  }

  /** B1. */
  #madeId(work: Work): string {
    const text =
      work.kind === "shell"
        ? work.command
        : work.kind === "set"
          ? `set ${Object.keys(work.values).join(" ")}`
          : work.prompt;
    const words = text.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
    const stem = `${/^[a-z]/.test(words[0] ?? "") ? "" : `${work.kind}-`}${words.slice(0, 3).join("-")}`.slice(0, 40);
    let n = this.#used.get(stem) ?? 1;
    while (this.#taken.has(n === 1 ? stem : `${stem}-${n}`)) n += 1;
    this.#used.set(stem, n + 1);
    const id = n === 1 ? stem : `${stem}-${n}`;
    this.#taken.add(id);
    return id;
  }

  #map(node: YamlNode | undefined): MapPhase {
    const raw: Raw = node === undefined ? {} : rawOf(node);
    const { json_path, filter, max_items, max_parallel } = raw;
    const optional = { json_path, filter, sort: sortOf(raw["sort"]), max_items };
    const present = Object.entries(optional).filter(([, value]) => value !== undefined);
    const steps = this.#steps(fieldOf(node, "steps") ?? fieldOf(node, "agent_template"));
    const parallel = typeof max_parallel === "number" ? max_parallel : PARALLEL;
    return { input: inputOf(raw["input"]), ...Object.fromEntries(present), max_parallel: parallel, steps } as MapPhase;
  }
}

function workOf({ shell, set, agent, claude }: Raw): Work {
  if (typeof shell === "string") return { kind: "shell", command: shell };
  if (set !== undefined) return { kind: "set", values: set as Readonly<Record<string, Json>> };
  if (typeof claude === "string") return { kind: "agent", provider: "claude", prompt: claude };
  return { kind: "agent", ...(agent as { provider: string; prompt: string }) };
}

function retryOf(raw: Json | undefined): Retry | undefined {
  if (raw === undefined) return undefined;
  const { attempts, backoff, max_backoff, exit_codes } = (typeof raw === "number" ? { attempts: raw } : raw) as Raw;
  const ms = (value: Json | undefined, other: number) =>
    value === undefined ? other : (durationMs(value as string | number) ?? other);
  const first = ms(backoff, BACKOFF_MS);
  return {
    attempts: attempts as number,
    backoff_ms: first,
    max_backoff_ms: Math.max(first, ms(max_backoff, MAX_BACKOFF_MS)),
    ...(exit_codes === undefined ? {} : { exit_codes: exit_codes as readonly number[] }),
  };
}

function captureOf(raw: Json | undefined): Readonly<Record<string, string>> | undefined {
  if (raw === undefined) return undefined;
  return typeof raw === "string" ? { [raw]: "stdout" } : (raw as Readonly<Record<string, string>>);
}

function inputOf(raw: Json | undefined): MapInput {
  if (typeof raw === "string") return { kind: "file", path: raw };
  const { file, command, glob } = (raw ?? {}) as Raw;
  if (typeof command === "string") return { kind: "command", command };
  if (typeof glob === "string") return { kind: "glob", pattern: glob };
  return { kind: "file", path: String(file) };
}

function sortOf(raw: Json | undefined): Sort | undefined {
  if (raw === undefined) return undefined;
  const { by, order } = (typeof raw === "string" ? { by: raw } : raw) as Raw;
  return { by: String(by), descending: order === "descending" };
}

export function parametersOf(node: YamlNode | undefined): Readonly<Record<string, Parameter>> | undefined {
  if (node === undefined) return undefined;
  const all = Object.entries(rawOf(node)).map(([name, raw]) => {
    const { type, description, ...rest } = (raw ?? {}) as Raw;
    return [name, { type: type ?? "string", ...rest, ...(description === undefined ? {} : { says: description }) }];
  });
  return Object.fromEntries(all) as Readonly<Record<string, Parameter>>;
}
