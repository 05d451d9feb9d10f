// A look at a tmux server: its identity, and what is on it.
import { ok, type Result, refused } from "../../base/result.ts";
import type { SeenSession } from "../../core/tmux/judge.ts";
import type { TmuxServer } from "../../core/tmux/tmux.ts";
import { type ListedPane, listFormat, parseList } from "../../wire/tmux-list.ts";
import { identify, type Processes } from "../../world/process.ts";
import type { Random } from "../../world/random.ts";
import type { TmuxRun, TmuxSocket } from "./client.ts";

export type TmuxSeen = { readonly server: TmuxServer; readonly panes: readonly ListedPane[] };
export type LookWorld = { readonly processes: Processes; readonly random: Random };

export async function lookAt(
  run: TmuxRun,
  { processes, random }: LookWorld,
  socket: TmuxSocket,
): Promise<Result<TmuxSeen>> {
  const word = wordOf(random);
  const answer = await run({ socket, commands: [["list-panes", "-a", "-F", listFormat(word)]] });
  if (!answer.ok) return answer;
  const panes = parseList(answer.value, word);
  const [first] = panes ?? [];
  const server = first === undefined ? undefined : identify(processes, first.serverPid);
  if (panes === undefined || server === undefined) return STRANGE;
  return ok({ server, panes });
}

const STRANGE = refused(
  "tmux-strange",
  "tmux's answer was not understood.",
  "Holdfast knows tmux 3.0 and newer: tmux -V",
);

/** A word that does not appear on any screen by chance. */
export function wordOf(random: Random): string {
  return random.bytes(12).toHex();
}

export function sessionsIn({ panes }: TmuxSeen): readonly SeenSession[] {
  const byId = Map.groupBy(panes, ({ session }) => session);
  return [...byId].flatMap(([session, [pane]]) =>
    pane === undefined ? [] : [{ session, name: pane.sessionName, mark: pane.mark }],
  );
}
