// A terminal as `ls --json` and `new --json` print it. Fields are added, never changed (DESIGN §11).
import type { ListedTerminal } from "../../wire/rpc.ts";

export type Row = {
  readonly id: string;
  readonly name: string;
  readonly lane: string;
  readonly state: "starting" | "running" | "ended" | "uncertain";
  /** The program's. */
  readonly pid: number | null;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly createdAt: string;
  readonly clients: number;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly lastOutputAt: string | null;
};

export function rowOf({ id, name, lane, state, recipe, createdAt, clients, lastOutputAt }: ListedTerminal): Row {
  return {
    id,
    name,
    lane,
    state: state.kind,
    pid: state.kind === "running" ? state.pid : null,
    command: recipe.argv,
    cwd: recipe.cwd,
    createdAt,
    clients,
    exitCode: state.kind === "ended" ? state.code : null,
    signal: state.kind === "ended" ? state.signal : null,
    lastOutputAt,
  };
}
