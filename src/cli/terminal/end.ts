// Ends the programs of terminals: asks them, waits, and kills those that do not react.
// EN1. An interactive shell ignores SIGTERM; it ends when its terminal hangs up, and so do its foreground jobs.
// EN2. A daemon that dies in between changes nothing: the signal is requested again, and an end stays an end.
// EN3. Hundreds of terminals share one connection to the daemon. With one for each, the last ones waited so long that
//      the daemon counted as not running, or each started it: a hundred cannot write the same file at once (EBUSY).
import { allOf, someAtOnce } from "../../base/all-of.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { isInteractiveShell } from "../../core/shell.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { terminalFiles } from "../../home/held/holder-files.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import { within } from "../../world/wait.ts";
import { isRetryableRefusal, onDaemon, REQUESTS_AT_ONCE } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { type LineEnd, ReconnectingHolder } from "./reconnecting-holder.ts";
import { writerName } from "./writer-name.ts";

/** The time a program gets to clean up, as with `docker stop`. */
const GRACE_MS = 10_000;
/** After SIGKILL only the kernel is left to wait for. */
const KILLED_MS = 10_000;

/** Each has a connection meanwhile, and a process may be limited to 1,024 open files. */
const HOLDERS_AT_ONCE = 250;

/** EN1 */
export function politeSignal(argv: readonly string[]): "SIGHUP" | "SIGTERM" {
  return isInteractiveShell(argv) ? "SIGHUP" : "SIGTERM";
}

/** All at once, since each may take its ten seconds. Returns what became of each, in order. */
export async function endTerminals(
  world: DaemonCommandWorld,
  home: string,
  terminals: readonly BriefTerminal[],
): Promise<readonly Result<LineEnd>[]> {
  const ends: Result<LineEnd>[] = [];
  for (let at = 0; at < terminals.length; at += HOLDERS_AT_ONCE)
    ends.push(...(await endTogether(world, home, terminals.slice(at, at + HOLDERS_AT_ONCE))));
  return ends;
}

async function endTogether(
  world: DaemonCommandWorld,
  home: string,
  terminals: readonly BriefTerminal[],
): Promise<Result<LineEnd>[]> {
  const writer = writerName(world, "end");
  const lines = terminals.map((terminal) => {
    const line = new ReconnectingHolder(world, terminalFiles(world.disk, home, terminal.id), { writer });
    line.open();
    return { terminal, line };
  });
  const ends = new Map<string, Result<LineEnd>>();
  try {
    for (const { signalTo, ms } of STEPS) {
      const rest = lines.filter(({ terminal }) => !ends.has(terminal.id));
      if (rest.length === 0) break;
      const wishes = rest.map(({ terminal }) => ({ id: terminal.id, signal: signalTo(terminal) }));
      const asked = await signalAll(world, home, wishes);
      const waits = rest.map(async ({ terminal: { id }, line }, at) => {
        const answer = asked[at];
        if (answer?.ok === false && answer.error.code !== "not-running") return void ends.set(id, answer);
        const end = await within(world.clock, ms, line.ended);
        if (end !== undefined) ends.set(id, ok(end));
      });
      await allOf(waits);
    }
  } finally {
    for (const { line } of lines) line.close();
  }
  return terminals.map((terminal) => ends.get(terminal.id) ?? stillRunning(terminal));
}

const STEPS: readonly { signalTo(terminal: BriefTerminal): string; readonly ms: number }[] = [
  { signalTo: ({ restored, recipe }) => politeSignal(restored?.argv ?? recipe.argv), ms: GRACE_MS },
  { signalTo: () => "SIGKILL", ms: KILLED_MS },
];

function stillRunning({ name }: BriefTerminal): Result<never> {
  return refused(
    "still-running",
    `${name} does not end, even after SIGKILL.`,
    "It may be waiting for a disk: `ps` shows its state.",
  );
}

type SignalWish = { readonly id: string; readonly signal: string };

/** EN3 */
async function signalAll(world: DaemonCommandWorld, home: string, wishes: readonly SignalWish[]) {
  const signalled = await onDaemon(world, home, async (client) => {
    const answers = await someAtOnce(REQUESTS_AT_ONCE, wishes, (wish) => client.call("terminal.signal", wish));
    const lost = answers.find((answer) => !answer.ok && isRetryableRefusal(answer.error)); // EN2
    return lost?.ok === false ? lost : ok(answers);
  });
  return signalled.ok ? signalled.value : wishes.map(() => signalled);
}

/** The signal is durable with the daemon when this returns. */
export function signalTerminal(world: DaemonCommandWorld, home: string, wish: SignalWish): Promise<Result<Terminal>> {
  return onDaemon(world, home, (client) => client.call("terminal.signal", wish)); // EN2
}
