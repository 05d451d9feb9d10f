// The service as a systemd user unit: its text, and the one thing that is read back from it. Pure, so that every odd path is a test.
// U1. A word is written so that systemd reads back exactly that word: quotes, backslashes and control characters are escaped, a `%`
//     is doubled, and the `:` before each program keeps a `$` from being taken for a variable.
// U2. Only the watchdog is systemd's: `KillMode=process` leaves daemon and holders alone when it stops, `OOMPolicy=continue` when one
//     of them is taken for memory. `Restart=always` without a limit: nobody else starts it again.
// U3. `ExecCondition` is asked before each start: where the operator wants `down`, the unit is skipped, which is no failure and is not
//     tried again.
// U4. Nothing of one login goes along: not the agent's socket (SSH_AUTH_SOCK), which is gone after the next one. Nor does a value with
//     control characters, which systemd would refuse.

export const UNIT_NAME = "holdfast.service";

/** Taken from the shell in which the service is installed. */
const TAKEN = /^(?:PATH|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|XDG_(?:CONFIG|DATA|STATE|CACHE)_HOME|HOLDFAST_CONFIG)$/;

export type Environment = Readonly<Record<string, string>>;

export type ServiceFacts = {
  /** The words that start the watchdog in the foreground. */
  readonly start: readonly string[];
  /** The words that say whether it is to be started. */
  readonly condition: readonly string[];
  readonly home: string;
  /** Where its words go; its directory exists. */
  readonly log: string;
  readonly environment: Environment;
};

/** U4 */
export function serviceEnvironment(shell: Environment, home: string): Environment {
  const taken = Object.entries(shell).filter(([name, value]) => TAKEN.test(name) && !/\p{Cc}/u.test(value));
  return Object.fromEntries([...taken.sort(([a], [b]) => (a < b ? -1 : 1)), ["HOLDFAST_HOME", home]]);
}

export function unitText({ start, condition, log, environment }: ServiceFacts): string {
  const variables = Object.entries(environment).map(([name, value]) => `Environment=${word(`${name}=${value}`)}`);
  return [
    "# Made by `holdfast service install`, which writes it again; `holdfast service remove` takes it away.",
    "[Unit]",
    "Description=Holdfast: keeps terminals, coding agents and workflows alive",
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=exec",
    ...variables,
    `ExecCondition=${commandLine(condition)}`,
    `ExecStart=${commandLine(start)}`,
    "Restart=always",
    "RestartSec=1s",
    "KillMode=process",
    "OOMPolicy=continue",
    "TimeoutStopSec=45s",
    "UMask=0077",
    `StandardOutput=append:${doubled(log)}`,
    `StandardError=append:${doubled(log)}`,
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

/** Whether a path can stand in the unit where nothing can be escaped. */
export function isPlainPath(path: string): boolean {
  return path.startsWith("/") && !/[\p{Cc}]/u.test(path) && path === path.trim();
}

function commandLine([program = "", ...args]: readonly string[]): string {
  return [word(`:${program}`), ...args.map(word)].join(" "); // U1
}

/** U1 */
function word(text: string): string {
  const escaped = text.replace(/["\\]/g, "\\$&").replace(/\p{Cc}/gu, (control) => `\\x${hex(control)}`);
  return `"${doubled(escaped)}"`;
}

function hex(control: string): string {
  return [...new TextEncoder().encode(control)].map((byte) => byte.toString(16).padStart(2, "0")).join("\\x");
}

function doubled(text: string): string {
  return text.replaceAll("%", "%%");
}

/** Whether two units do the same; each shell has a PATH of its own, so their environments may differ. */
export function doTheSame(one: string, other: string): boolean {
  return withoutEnvironment(one) === withoutEnvironment(other);
}

function withoutEnvironment(text: string): string {
  return text.replace(/^Environment=.*\n/gm, "");
}

/** Which home a unit of ours is for; undefined where it is none of ours. */
export function homeInUnit(text: string): string | undefined {
  const line = /^Environment="HOLDFAST_HOME=(.*)"$/m.exec(text)?.[1];
  return line === undefined ? undefined : unescaped(line);
}

function unescaped(text: string): string {
  const plain = text.replaceAll("%%", "%");
  return plain.replace(/((?:\\x[0-9a-f]{2})+)|\\(["\\])/g, (_, run: string | undefined, mark: string) =>
    run === undefined ? mark : new TextDecoder().decode(bytesIn(run)),
  );
}

function bytesIn(run: string): Uint8Array {
  return Uint8Array.from(run.slice(2).split("\\x"), (pair) => Number.parseInt(pair, 16));
}
