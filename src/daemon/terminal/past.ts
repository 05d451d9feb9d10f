// The screen of a terminal at an earlier moment, for the page. The screen program draws it; here is only found where.
import { ok, type Result, refused } from "../../base/result.ts";
import { terminalFiles } from "../../home/held/holder-files.ts";
import { offsetAt, timesOf } from "../../home/held/past.ts";
import { tapeOf } from "../../home/held/tape-parts.ts";
import type { TapeTimes } from "../../log/tape/times.ts";
import type { Params } from "../../wire/rpc/params.ts";
import type { PastScreen } from "../../wire/rpc/rpc.ts";
import type { Disk } from "../../world/disk.ts";
import type { Screens } from "./screens.ts";
import type { TerminalStore } from "./store.ts";

export type PastPorts = {
  readonly disk: Disk;
  readonly home: string;
  readonly store: TerminalStore;
  readonly screens: Screens;
};

export async function screenAt(ports: PastPorts, wish: Params<"terminal.screenAt">): Promise<Result<PastScreen>> {
  const terminal = ports.store.terminals.get(wish.id);
  if (terminal === undefined || terminal.removed)
    return refused("unknown", `There is no terminal ${wish.id}.`, "holdfast ls shows all.");
  const place = terminalFiles(ports.disk, ports.home, wish.id);
  const { start, end } = tapeOf(place);
  const times = timesOf(place);
  const wanted = wantedOffset(times, wish, end);
  if (!wanted.ok) return wanted;
  const until = Math.max(start, Math.min(wanted.value, end));
  const screen = await ports.screens.past({ id: wish.id, size: terminal.recipe.size, until });
  if (!screen.ok) return screen;
  const moments = { first: iso(times.first?.time), last: iso(times.last?.time) };
  return ok({ ...screen.value, until, time: iso(times.timeAt(until - 1)), ...moments, tape: { start, end } });
}

function wantedOffset(times: TapeTimes, { offset, time }: Params<"terminal.screenAt">, end: number): Result<number> {
  if (offset !== undefined || time === undefined) return ok(offset ?? end);
  const at = Date.parse(time);
  if (!Number.isNaN(at)) return offsetAt(times, at);
  return refused("bad-params", "The request is malformed: `time` is not a time.", "Give it as in ISO 8601.");
}

function iso(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
