// The text of the systemd user unit, and the one value that is read back from it. Pure, so that odd paths can be
// tested.
// U1. systemd reads back exactly the word that was written: quotes, backslashes and control characters are escaped, `%`
//     is doubled, and the `:` before each program keeps a `$` from being taken for a variable.
// U2. Only the watchdog belongs to systemd: `KillMode=process` leaves daemon and holders alone when it stops, and
//     `OOMPolicy=continue` when one of them is killed for memory. `Restart=always` has no limit: nothing else restarts
//     it.
// U3. `ExecCondition` is checked before each start: if the operator wants `down`, the unit is skipped, which is not a
//     failure and is not retried.
// U4. Nothing that belongs to one login is copied, such as SSH_AUTH_SOCK, which is gone after the next one; nor is a
//     value with control characters, which systemd would refuse.

export const UNIT_NAME = "holdfast.service";

/** Copied from the shell in which the service is installed. */
const TAKEN = /^(?:PATH|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|XDG_(?:CONFIG|DATA|STATE|CACHE)_HOME|HOLDFAST_CONFIG)$/;

export type Environment = Readonly<Record<string, string>>;

/** What a unit is made of. */
export type UnitFacts = {
  /** The command that runs the watchdog in the foreground. */
  readonly start: readonly string[];
  /** The command that decides whether to start it. */
  readonly condition: readonly string[];
  /** Where its output goes, in a directory that exists; without it, to the journal. */
  readonly log?: string;
  readonly environment: Environment;
  /** Its first line, if `service install` does not write it. */
  readonly written?: string;
};

export type ServiceFacts = UnitFacts & { readonly home: string; readonly log: string };

/** U4 */
export function serviceEnvironment(shell: Environment, home: string): Environment {
  const taken = Object.entries(shell).filter(([name, value]) => TAKEN.test(name) && !/\p{Cc}/u.test(value));
  return Object.fromEntries([...taken.sort(([a], [b]) => (a < b ? -1 : 1)), ["HOLDFAST_HOME", home]]);
}

const WRITTEN = "# Written by `holdfast service install`, which overwrites it; `holdfast service remove` removes it.";

export function unitText({ start, condition, log, environment, written = WRITTEN }: UnitFacts): string {
  const variables = Object.entries(environment).map(([name, value]) => `Environment=${word(`${name}=${value}`)}`);
  return [
    written,
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
    ...(log === undefined ? [] : ["Output", "Error"].map((name) => `Standard${name}=append:${doubled(log)}`)),
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

/** Whether a path can be used in the parts of the unit that cannot be escaped. */
export function isPlainPath(path: string): boolean {
  return path.startsWith("/") && !/[\p{Cc}]/u.test(path) && path === path.trim();
}

export function commandLine([program = "", ...args]: readonly string[]): string {
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

/** Whether two units do the same; their environments may differ, because each shell has its own PATH. */
export function doTheSame(one: string, other: string): boolean {
  return withoutEnvironment(one) === withoutEnvironment(other);
}

function withoutEnvironment(text: string): string {
  return text.replace(/^Environment=.*\n/gm, "");
}

/** The home that our unit is for; undefined if the unit is not ours. */
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
