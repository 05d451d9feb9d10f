// State machines as tables: one row for each state, one cell for each event that state allows.
// M1. The compiler requires every row. A missing cell is an illegal transition.
// M2. An illegal transition is refused with the machine, the state, the event and the legal events.
// M3. The diagram is generated from the table, so that the two cannot disagree.
import { ok, type Result, refused } from "./result.ts";

/** The next state for each event that is legal here. */
export type Row<S extends string, E extends string> = { readonly [event in E]?: NoInfer<S> };

export type Table<S extends string, E extends string> = { readonly [state in S]: Row<S, E> };

export type Spec<S extends string, E extends string> = {
  readonly name: string;
  readonly initial: NoInfer<S>;
  readonly table: Table<S, E>;
};

/** One cell of the table; `next` is undefined if the event is illegal. */
export type Cell<S extends string, E extends string> = {
  readonly state: S;
  readonly event: E;
  readonly next: S | undefined;
};

export type Machine<S extends string, E extends string> = Spec<S, E> & {
  readonly states: readonly S[];
  readonly events: readonly E[];
  next(state: S, event: E): Result<S>;
  /** Whether this event is legal in this state. */
  allows(state: S, event: E): boolean;
};

export function machine<S extends string, E extends string>(spec: Spec<S, E>): Machine<S, E> {
  const states: S[] = [];
  const events = new Set<E>();
  for (const state in spec.table) {
    states.push(state);
    const row: Row<S, E> = spec.table[state];
    for (const event in row) events.add(event);
  }
  return {
    ...spec,
    states,
    events: [...events],
    next: (state, event) => step(spec, state, event),
    allows: (state, event) => spec.table[state][event] !== undefined,
  };
}

function step<S extends string, E extends string>(spec: Spec<S, E>, state: S, event: E): Result<S> {
  const next: S | undefined = spec.table[state][event];
  if (next !== undefined) return ok(next);
  // M2
  return refused("illegal-transition", `${spec.name}: "${event}" is illegal in ${state}.`, legalHint(spec, state));
}

function legalHint<S extends string, E extends string>(spec: Spec<S, E>, state: S): string {
  const legal: string[] = [];
  for (const event in spec.table[state]) legal.push(`"${event}" (to ${spec.table[state][event]})`);
  return legal.length === 0 ? `Nothing is legal in ${state}: it is final.` : `Legal in ${state}: ${legal.join(", ")}.`;
}

/** Whether a state may become another one by one event, or by several through states that are only passed. */
export function changesOf<S extends string, E extends string>(
  of: Machine<S, E>,
  passed: readonly S[] = [],
): (from: S, to: S) => boolean {
  const legal = new Set(of.states.flatMap((from) => [...reachedFrom(of, from, passed)].map((to) => `${from} ${to}`)));
  return (from, to) => from === to || legal.has(`${from} ${to}`);
}

function reachedFrom<S extends string, E extends string>(of: Machine<S, E>, from: S, passed: readonly S[]): Set<S> {
  const reached = new Set<S>();
  const waiting: S[] = [from];
  for (const state of waiting) {
    for (const event of of.events) {
      const next: S | undefined = of.table[state][event];
      if (next === undefined || reached.has(next)) continue;
      reached.add(next);
      if (passed.includes(next)) waiting.push(next);
    }
  }
  return reached;
}

/** Every state with every event, legal or not: for tests that walk them all. */
export function cells<S extends string, E extends string>(of: Machine<S, E>): Cell<S, E>[] {
  return of.states.flatMap((state) => of.events.map((event) => ({ state, event, next: of.table[state][event] })));
}

/** The states that no chain of events reaches: a test expects none. */
export function unreachable<S extends string, E extends string>(of: Machine<S, E>): S[] {
  const reached = new Set<S>([of.initial]);
  // Iterating over a set also yields what is added meanwhile, so this loop is the whole search.
  for (const state of reached) {
    for (const event of of.events) {
      const next: S | undefined = of.table[state][event];
      if (next !== undefined) reached.add(next);
    }
  }
  return of.states.filter((state) => !reached.has(state));
}

/** M3. A Mermaid `stateDiagram-v2`. */
export function toMermaid<S extends string, E extends string>(of: Machine<S, E>): string {
  const lines = ["stateDiagram-v2", `    [*] --> ${word(of.initial)}`];
  for (const state of of.states) if (word(state) !== state) lines.push(`    state "${state}" as ${word(state)}`);
  for (const { state, event, next } of cells(of)) {
    if (next !== undefined) lines.push(`    ${word(state)} --> ${word(next)}: ${event}`);
  }
  for (const state of of.states)
    if (Object.keys(of.table[state]).length === 0) lines.push(`    ${word(state)} --> [*]`);
  return `${lines.join("\n")}\n`;
}

/** Mermaid accepts only word characters in the id of a state. */
function word(state: string): string {
  return state.replace(/\W/g, "_");
}
