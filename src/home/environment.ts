// The environment of a new terminal's program: the user's own, from where they typed the command.
// NV1. Nothing of ours is passed on: neither what our launcher and Bun set for us, nor the marks of a terminal we were
//      called from.
// NV2. Nothing is passed on that is true only for the window it was typed in: its multiplexer and its size.

const OURS = /^(?:HOLDFAST_(?:TERMINAL|HOME_ID|SAFE_MODE|HEARTBEAT_MS|WATCHDOG_SETTINGS)|BUN_.*)$/;
const OF_THE_WINDOW = ["TMUX", "TMUX_PANE", "STY", "WINDOW", "COLUMNS", "LINES", "WINDOWID", "TERMCAP"];
/** Set by a drill for Holdfast, not for the programs in its terminals. */
const OF_A_DRILL = ["HOLDFAST_BOOT_ID"];

type Environment = Readonly<Record<string, string>>;

/** NV1 */
export function withoutOurs(environment: Environment): Environment {
  return filtered(environment, (name) => !OURS.test(name));
}

export function terminalEnvironment(environment: Environment, term: string): Environment {
  const theirs = filtered(withoutOurs(environment), (name) => ![...OF_THE_WINDOW, ...OF_A_DRILL].includes(name)); // NV2
  return { ...theirs, TERM: term };
}

/** Not assigned one by one: a variable may be called `__proto__`. */
function filtered(environment: Environment, keep: (name: string) => boolean): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => keep(name)));
}
