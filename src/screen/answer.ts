// Answers one request at a time. A failure with one terminal is refused for that request only.
import { isFault } from "../base/fault.ts";
import { ok, type Result, refused } from "../base/result.ts";
import type { ScreenSnapshot } from "../core/terminal/screen.ts";
import { describe } from "../vt/describe.ts";
import type { Emulator } from "../vt/emulator.ts";
import type { FollowedTape } from "../vt/follow.ts";
import { serialized } from "../vt/serialize.ts";
import type { ScreenRequest } from "../wire/screen.ts";
import type { Clock } from "../world/clock.ts";
import { restoreBanner } from "./farewell.ts";
import type { LiveScreens } from "./live.ts";

export async function answer(live: LiveScreens, clock: Clock, request: ScreenRequest): Promise<Result<unknown>> {
  try {
    if (request.op === "cells" && request.until !== undefined) return ok(await live.past(request, request.until));
    if (request.op === "index") return ok(await live.index(request, request.after));
    if (request.op === "past")
      return ok(await live.recalled(request, request.until, (tape) => snapshot(tape, request.maxBytes, clock)));
    const tape = await live.current(request, request.op === "reply" ? request.until : undefined);
    if (request.op === "reply") return ok(reply(tape.emulator, request.query));
    if (request.op === "farewell") return ok(restoreBanner(tape.emulator, request.message));
    if (request.op === "cells") return ok(describe(tape.emulator));
    return ok(snapshot(tape, request.maxBytes, clock));
  } catch (error) {
    live.forget(request.directory);
    return refusal(error);
  }
}

/** Within a string that the parser has begun, a query would be part of it. */
function reply({ xterm, unfinished }: Emulator, query: string): string {
  return unfinished ? "" : xterm.replyTo(query);
}

function snapshot(tape: FollowedTape, maxBytes: number, clock: Clock): ScreenSnapshot {
  const { emulator, exact } = tape;
  const { xterm, offset } = emulator;
  return {
    offset,
    ...emulator.size,
    ...tape.kept(`${offset} ${emulator.end} ${xterm.cols} ${xterm.rows} ${maxBytes}`, () =>
      serialized(emulator, maxBytes),
    ),
    exact,
    at: new Date(clock.now()).toISOString(),
    title: xterm.titles.title,
    alternate: xterm.active === xterm.alternate,
  };
}

/**
 * The emulator is foreign code and gets every possible byte: what
 * it throws is reported, and the terminal's emulator is discarded.
 */
function refusal(error: unknown): Result<never> {
  if (isFault(error)) return refused("screen.unreadable", error.message, error.hint);
  const words = error instanceof Error ? error.message : String(error);
  return refused(
    "screen.failed",
    `The screen could not be made: ${words}`,
    "The tape itself is whole: see `holdfast history`.",
  );
}
