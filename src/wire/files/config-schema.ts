// All settings: the one table that the reader, `config show` and docs/CONFIG.md are made from.
// G1. A setting that is `crashLoop.windowS` in the code is `window_s` in `[crash_loop]` of the file.
// G2. Settings are added, never given another meaning: a file that was right stays right.

import { RECOVERY_PROMPT } from "../../core/agent/defaults.ts";
import { PROVIDERS } from "../../core/agent/provider.ts";
import {
  address,
  autoOr,
  command,
  controlKey,
  type Field,
  given,
  homePage,
  hosts,
  hours,
  oneOf,
  pages,
  path,
  pattern,
  patternList,
  patterns,
  remark,
  text,
  variables,
  whole,
  words,
  yesNo,
} from "./config-fields.ts";

const KIB = 1 << 10;
const MIB = 1 << 20;
/** A hundred years. */
const MANY_DAYS = 36_500;

const AGENT_ENV = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TERM", "TMPDIR", "SSH_AUTH_SOCK"],
  ...["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"],
  ...["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY"],
];

export const SECTIONS = {
  daemon: {
    heartbeatMs: whole([100, 60_000], 2_000, "How often watched processes send a heartbeat."),
    unresponsiveKillS: whole([5, 3_600], 30, "A process that sends none for this long is killed and started again."),
  },
  crashLoop: {
    crashes: whole([1, 1_000_000], 3, "This many crashes within the window lead to safe mode."),
    windowS: whole([1, 86_400], 60, "The window in which crashes are counted."),
  },
  recovery: {
    stageTimeoutS: whole([1, 3_600], 30, "A stage of recovery without progress for this long has failed."),
    maxAttempts: whole([1, 100], 3, "How often a failed stage may be retried."),
  },
  terminal: {
    tapeBytes: whole(
      [64 * KIB, 1_024 * 1_024 * MIB],
      64 * MIB,
      "How much output a terminal keeps; the oldest goes first.",
    ),
    segmentBytes: whole([4 * KIB, 1_024 * MIB], 4 * MIB, "The size of the files the output is kept in."),
    detachKey: controlKey("ctrl-\\", "The key that leaves an attached terminal running; false for none."),
    shell: path((env) => shellOf(env("SHELL")), "`$SHELL`, else `/bin/sh`", "What `holdfast new` starts."),
    term: text("xterm-256color", "The `TERM` of programs in a terminal."),
    envAllow: words([], "Globs of variables that are stored although they look like secrets."),
    envDeny: words([], "Globs of variables that are never stored."),
  },
  checkpoint: {
    intervalMs: whole([1_000, 3_600_000], 60_000, "How long after a change the screens of terminals are saved."),
    maxAgeH: whole([1, 8_760], 24, "A checkpoint older than this is used with a warning."),
    clockSkewS: whole(
      [0, 86_400],
      300,
      "A checkpoint may be this much from the future, or older than allowed: clocks are set.",
    ),
    scrollbackBytes: whole([0, MIB], 10 * KIB, "How much of a screen is saved with it, at most; 0 saves none."),
  },
  retention: {
    removedDays: whole(
      [0, MANY_DAYS],
      1,
      "How long the output of a terminal is kept after `holdfast rm`, and a tmux session's after `adopt release`.",
    ),
    endedDays: whole([0, MANY_DAYS], 30, "How long the output of a terminal is kept after its program has ended."),
    tapeBytes: whole([0, 1_024 * 1_024 * MIB], 4_096 * MIB, "How much output of ended terminals is kept in all."),
    runDays: whole(
      [0, MANY_DAYS],
      30,
      "How long what a workflow's steps wrote is kept after the run is done or cancelled, or their iteration long over.",
    ),
    runBytes: whole([0, 1_024 * 1_024 * MIB], 4_096 * MIB, "How much of it is kept in all."),
    agentDays: whole(
      [0, MANY_DAYS],
      30,
      "How long an agent and its log are kept after it and all agents below it were terminated.",
    ),
    agentBytes: whole([0, 1_024 * 1_024 * MIB], 4_096 * MIB, "How much of such agents is kept in all."),
    reportDays: whole([1, MANY_DAYS], 90, "How long reports of recoveries are kept; the newest always is."),
    reports: whole([1, 50], 50, "How many of them are kept."),
    quarantineDays: whole([1, MANY_DAYS], 90, "How long damaged files are kept in quarantine."),
    quarantineBytes: whole([0, 1_024 * 1_024 * MIB], 1_024 * MIB, "How much of them is kept."),
    archiveAfterMin: whole(
      [0, 525_600],
      60,
      "How long an ended run, a removed terminal or a terminated agent stays in memory before it is archived.",
    ),
    archiveDays: whole(
      [1, MANY_DAYS],
      365,
      "How long the log and the checkpoint of an archived run, and the log of a removed terminal, are kept.",
    ),
    archiveBytes: whole([0, 1_024 * 1_024 * MIB], 4_096 * MIB, "How much of these is kept."),
    logDays: whole(
      [1, MANY_DAYS],
      365,
      "How long the older files of the log of an agent or a run that goes on are kept.",
    ),
    logBytes: whole([0, 1_024 * 1_024 * MIB], 4_096 * MIB, "How much of them is kept in all."),
    histories: whole([1, 10_000], 20, "How many older checkpoints of a workflow are kept."),
  },
  tmux: {
    saveS: whole([1, 86_400], 30, "How often adopted tmux sessions are checked, and saved if they changed."),
    scrollbackLines: whole([0, 100_000], 2_000, "How many lines above the screen are kept of each of their panes."),
  },
  agents: {
    provider: text("claude", "What an agent runs on by default: a kind of provider, or one of `[provider.NAME]`."),
    slots: whole([1, 1_000], 8, "How many processes or requests of one kind of provider there are at a time."),
    env: words(
      AGENT_ENV,
      "Variables of Holdfast's own environment that agents get, keys only on their own provider. They are never stored.",
    ),
    sandbox: autoOr(
      'Whether new agents run in a sandbox: `"auto"` those of kind `claude`, if bubblewrap works here; or all, or none.',
    ),
    hungAfterS: whole([10, 86_400], 300, "A process without output for this long in a turn is hung."),
    promptDays: whole([1, 365], 7, "An open prompt is denied after this long without any activity."),
    recovery: oneOf(
      ["auto", "parent", "ask", "never"],
      "auto",
      "Whether a root agent resumes by itself after a crash.",
    ),
    recoveryPrompt: text(RECOVERY_PROMPT, "The prompt for an agent whose process died in mid-turn."),
    sleepOnLimit: yesNo(true, "Whether a usage limit makes an agent sleep until it is over; else its turn fails."),
  },
  workflows: {
    slots: whole(
      [0, 10_000],
      0,
      "How many steps of all runs may run at once, except those of agents; 0 decides by cores and memory.",
    ),
    checkpointS: whole([1, 86_400], 60, "How often the checkpoint of a run is saved in long steps."),
  },
  breaker: {
    failures: whole(
      [1, 1_000],
      5,
      "After this many failed requests in a row a model's endpoint is not asked for a while.",
    ),
    timeoutS: whole([1, 86_400], 30, "For how long; then one request tries whether it works again."),
  },
  web: {
    enabled: yesNo(true, "Whether the page is served, on this machine only."),
    port: whole([0, 65_535], 0, "The port of the page; 0 takes any free one."),
  },
  search: {
    maxBytes: whole(
      [0, 1_024 * 1_024 * MIB],
      256 * MIB,
      "How large the index of searches may become, about an eighth of what it covers; the oldest goes first, 0 keeps none.",
    ),
  },
  notify: {
    command: words(
      [],
      "A command that is run for each prompt and each answer, with the message as JSON on its standard input; no shell.",
    ),
    url: address("An address to which the same is sent by POST; private addresses must be in `[push] allow`."),
    quiet: hours(
      "Hours in which nobody is called, by this machine's clock; what is still open then is sent afterwards.",
    ),
    mute: patternList("Names of agents whose prompts call nobody, with `*`, `?` and `[ab]`."),
  },
  push: {
    allow: hosts("Hosts that notifications may go to although they are not public, or without TLS."),
    contact: text(
      "mailto:nobody@example.com",
      "Whom a push service may write to about this home: mailto: or https://.",
    ),
  },
  fleet: {
    url: remark("The PostgreSQL that the hosts of a fleet share (docs/FLEET.md); empty: this host is alone."),
    keyFile: path(
      (env) => `${env("XDG_CONFIG_HOME") || `${env("HOME") ?? ""}/.config`}/holdfast/fleet.key`,
      "`fleet.key` beside this file",
      "The key with which everything in the database is encrypted; made by `holdfast fleet init`.",
    ),
    host: remark("The name of this host, for people; empty: its host name."),
    ssh: remark("Where ssh of the other hosts finds this one, such as `ann@build1`; empty: its host name."),
    leaseS: whole([1, 3_600], 10, "A host that was not heard of for this long may be taken over."),
    takeover: oneOf(
      ["auto", "manual"],
      "auto",
      "Whether other hosts take this home over by themselves. With `manual` it goes on while the database is away.",
    ),
    take: patternList("Names of other homes that this host takes over, with `*`, `?` and `[ab]`; none by default."),
    mirror: patternList("Those of them of which it keeps a copy that is up to date, for a faster takeover."),
    homes: path(
      (env) => `${env("XDG_STATE_HOME") || `${env("HOME") ?? ""}/.local/state`}/holdfast-homes`,
      "`holdfast-homes` in the XDG state directory",
      "Where homes that were taken over are put.",
    ),
    labels: words([], "What this host has, for work that asks for it: `gpu`, `arch=arm64`."),
    capacity: whole([0, 100_000], 0, "How many runs and agents of the fleet's queue it takes at once; 0: none."),
    page: homePage(
      "Where a browser finds the page of a home on this host; `{home}` stands for its name. Others see it.",
    ),
    tapeBytes: whole([0, 64 * MIB], 256 * KIB, "How much of the end of each terminal's output other hosts get."),
    carryBytes: whole(
      [0, 1_024 * MIB],
      64 * MIB,
      "How long an agent's conversation, or what it has changed in its worktree, may be for other hosts to get it.",
    ),
  },
  log: {
    segmentBytes: pages(
      [2 * MIB, 1_024 * MIB],
      8 * MIB,
      "The size of a file of the write-ahead log. A transaction of any size fits.",
    ),
    maxSegments: whole([2, 1_024], 8, "How many files the write-ahead log may have."),
    maxQueuedBytes: whole(
      [64 * KIB, 1_024 * MIB],
      8 * MIB,
      "How much may wait to be written before new work is refused.",
    ),
    sessionBytes: whole(
      [KIB, 1_024 * MIB],
      4 * MIB,
      "How long the log file of a terminal, an agent or a run may become before the next one is begun.",
    ),
    ballastBytes: whole([0, 1_024 * MIB], 16 * MIB, "Space that is set aside for recovery on a full disk."),
  },
} as const satisfies Readonly<Record<string, Section>>;

/** `[watch.NAME]`: a program of the user's that the watchdog keeps alive (WD-8). */
export const WATCHED = {
  command: command("What is run; there is no shell in between."),
  cwd: path((env) => env("HOME") ?? "/", "`$HOME`", "Where it is run."),
  env: variables("Variables in addition to the watchdog's own."),
  heartbeatMs: whole(
    [0, 600_000],
    0,
    "How often it sends a heartbeat (docs/FORMATS.md has the format); 0: only its end is watched.",
  ),
} as const satisfies Section;

/** `[restore.NAME]`: commands that resume by themselves after a restart, beside those that Holdfast knows. */
export const RESTORING = {
  match: given("The whole command line, with `*` and `?`: `npm run dev*`."),
  run: text("{command}", "The line that is typed into its shell and run; `{command}` stands for the old one."),
} as const satisfies Section;

/** `[provider.NAME]`: what agents run on, beside the built-in kinds. */
export const PROVIDING = {
  kind: oneOf(PROVIDERS, undefined, "Which protocol it speaks."),
  command: words(
    [],
    "The program and its arguments; `{prompt}`, `{session}`, `{model}`, `{cwd}` stand for these (kind `command`).",
  ),
  resume: words([], "The same for every turn but the first (kind `command`)."),
  sessionPath: text("$.session_id", "Where in a line of JSON the program names its session (kind `command`)."),
  outputPath: remark("Where in a line of JSON the program gives its answer; the last one counts (kind `command`)."),
  flags: words([], "Arguments after all others, passed on unchanged."),
  model: text("default", "The model; `default` leaves it to the program."),
  permissionMode: text(
    "default",
    "The permission mode (kind `claude`), and the highest one of agents that its agents start.",
  ),
  spawns: words([], "The other providers on which its agents may start agents. They may always use their own."),
  baseUrl: text("https://openrouter.ai/api/v1", "Where requests go (kind `openai`)."),
  keys: words(
    [],
    "Variables of Holdfast's own environment that its agents get instead of the usual ones (not kind `openai`).",
  ),
  keyProxy: yesNo(
    false,
    "Whether its key stays outside its agents' sandboxes: a proxy adds it to their requests (Claude Code only).",
  ),
  contextTokens: whole(
    [0, 100_000_000],
    0,
    "How many tokens its model takes; the oldest turns that do not fit are left out. 0: it is learnt (kind `openai`).",
  ),
  keyEnv: text("OPENROUTER_API_KEY", "The variable of Holdfast's own environment that has the key (kind `openai`)."),
} as const satisfies Section;

const RULING = {
  decision: oneOf(["allow", "deny"], undefined, "Whether it allows or denies."),
  tool: pattern("The name of the tool, with `*`, `?` and `[ab]`."),
  args: patterns("Patterns for arguments, by name; all must match."),
  message: remark("The reason that the agent gets."),
} as const satisfies Section;

export const WATCH = "watch";
export const RULE = "rule";
export const PROVIDER = "provider";
export const RESTORE = "restore";
/** Tables that the user gives names to. */
export const NAMED = {
  [WATCH]: WATCHED,
  [RESTORE]: RESTORING,
  [PROVIDER]: PROVIDING,
  [RULE]: RULING,
} as const satisfies Readonly<Record<string, Section>>;

/** Fit for a log line and a file name, as names of terminals are. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** The same without the names of Holdfast's own processes. */
const WATCH_NAME = /^(?!(?:daemon|standby|watchdog|web)$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** The order of rules counts, and names that are numbers would lose theirs. */
const RULE_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/;
export const NAMES: Readonly<Record<string, RegExp>> = {
  ...{ [WATCH]: WATCH_NAME, [RESTORE]: NAME, [PROVIDER]: NAME },
  [RULE]: RULE_NAME,
};

export type Section = Readonly<Record<string, Field<unknown>>>;
type Values<S extends Section> = { readonly [K in keyof S]: S[K] extends Field<infer T> ? T : never };

export type Watched = Values<typeof WATCHED>;
export type Restoring = Values<typeof RESTORING>;
export type Providing = Values<typeof PROVIDING>;
export type Ruling = Values<typeof RULING>;
export type Config = { readonly [S in keyof typeof SECTIONS]: Values<(typeof SECTIONS)[S]> } & {
  readonly watch: Readonly<Record<string, Watched>>;
  readonly restore: Readonly<Record<string, Restoring>>;
  readonly provider: Readonly<Record<string, Providing>>;
  readonly rule: Readonly<Record<string, Ruling>>;
};

/** "windowS" → "window_s": G1. */
export function inFile(name: string): string {
  return name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}

/** Why this cannot be the name of a table. */
export function wrongName(name: string): string {
  if (/^[0-9]/.test(name) && NAME.test(name)) return "The name of a rule begins with a letter.";
  return NAME.test(name)
    ? "A process of Holdfast has it; choose another one."
    : "A name has letters, digits, dot, dash and underscore, at most 64.";
}

/** What holds between settings: the smaller one's full key, the larger one's. */
export const NOT_ABOVE: readonly (readonly [smaller: string, larger: string])[] = [
  ["terminal.segment_bytes", "terminal.tape_bytes"],
];

/** A `$SHELL` that is not a full path would be looked for in the current directory. */
function shellOf(shell: string | undefined): string {
  return shell?.startsWith("/") ? shell : "/bin/sh";
}
