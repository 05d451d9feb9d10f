// Records real programs on a real terminal, for recorded.test.ts: `bun tests/screen/record.ts [name…]`. What it writes
// is committed; it is run again when a program should be seen in a newer version, or a new one is added. A station is
// an offset at which the program waited.
// Claude Code is recorded if `claude` is on the PATH, against an API on loopback (agent-api.ts).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentApi } from "./agent-api.ts";

const COLS = 80;
const ROWS = 24;
const ESC = "\u001b";
/** A program that is silent for this long waits for a key. This is not a test: nothing depends on it. */
const QUIET_MS = 400;
/** A program with constant output (a clock, a spinner) is not waited for longer than this. */
const MAX_MS = 20_000;

type Session = {
  readonly name: string;
  readonly argv: readonly string[];
  readonly keys: readonly string[];
  /** What it says before it waits: at first, and after each key. */
  readonly says?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

const TEXT = Array.from(
  { length: 60 },
  (_, n) => `${n} the quick brown fox — “漢字” café 😀 ${"·".repeat(n % 50)}`,
).join("\n");
const CODE = `${Array.from({ length: 40 }, (_, n) => `export const value${n} = "text ${n}"; // 注释 ${n}`).join("\n")}\n`;

const SESSIONS: readonly Session[] = [
  {
    name: "bash",
    argv: ["bash", "--norc", "--noprofile"],
    keys: [
      "ls --color=always -la\r",
      "printf '\\e[1;31mred\\e[0m \\e[4:3mcurly\\e[m 漢字 e\\u0301\\n'\r",
      "seq 1 60\r",
      "echo a long line that goes on and on $(seq 1 60)\r",
      "not yet run",
    ],
  },
  {
    name: "vim",
    argv: [
      "vim",
      "-N",
      "-u",
      "NONE",
      "-i",
      "NONE",
      "-n",
      "--cmd",
      "set mouse=a title ruler hls nu",
      "--cmd",
      "syntax on",
      "code.ts",
    ],
    keys: [
      "jjjdd",
      "ihello 漢字 ",
      ESC,
      ":split\r",
      "/value2\r",
      ":vsplit\r",
      `${String.fromCharCode(22)}jjj`,
      ESC,
      "Go",
      "more",
    ],
  },
  { name: "vim-left", argv: ["vim", "-N", "-u", "NONE", "-i", "NONE", "-n", "code.ts"], keys: ["G", ":q!\r"] },
  { name: "less", argv: ["less", "-R", "-S", "-N", "text.txt"], keys: [" ", "G", "/fox 12\r", "10k", `${ESC}[C`] },
  { name: "top", argv: ["top", "-d", "60", "-p", "self"], keys: ["x", "z", "b"] },
  {
    name: "htop",
    argv: ["htop", "-d", "600", "-p", "self"],
    keys: [`${ESC}[B`, `${ESC}[17~`, ESC, "t", "/sle", ESC, `${ESC}OP`, "q", `${ESC}OQ`, `${ESC}[C`, `${ESC}[B`, ESC],
  },
];

/** Its files and its API are its own: nothing of this machine's shows. */
function claudeSession(home: string, api: string): Session {
  const key = "key-of-a-recording-00000";
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const settings = {
    ...{ hasCompletedOnboarding: true, theme: "dark", numStartups: 3, projects: { [join(home, "project")]: trusted } },
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
  };
  mkdirSync(join(home, "project"), { recursive: true });
  writeFileSync(join(home, ".claude.json"), JSON.stringify(settings));
  return {
    name: "claude",
    argv: ["claude"],
    keys: ["fix the tests 漢字", "\r", `${ESC}[B`, `${ESC}[A`, "\r", "\u000f", "\u000f", "/", "\u007f", "?", "\u0003"],
    says: ["shortcuts", "漢", "proceed", "❯", "❯", "narrow", "transcript", "narrow"],
    env: {
      COLORTERM: "truecolor",
      ANTHROPIC_BASE_URL: api,
      ANTHROPIC_API_KEY: key,
      ...QUIETLY,
      PATH: process.env["PATH"] ?? "",
    },
  };
}

const QUIETLY = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", DO_NOT_TRACK: "1" };

async function record(
  { name, argv, keys, says = [], env: more = {} }: Session,
  home: string,
  cwd = home,
): Promise<void> {
  if (Bun.which(argv[0] ?? "") === null) return console.log(`${name}: not here`);
  const chunks: Buffer[] = [];
  let heardAt = performance.now();
  const terminal = {
    cols: COLS,
    rows: ROWS,
    data: (_: unknown, bytes: Uint8Array) => {
      chunks.push(Buffer.from(bytes));
      heardAt = performance.now();
    },
  };
  const sleeper = Bun.spawn(["sleep", "100"]);
  const words = argv.map((word) => (word === "self" ? String(sleeper.pid) : word));
  const usual = { PATH: "/usr/bin:/bin", TERM: "xterm-256color", LANG: "C.UTF-8", PS1: "$ ", USER: "someone" };
  const child = Bun.spawn(words, { cwd, env: { ...usual, HOME: home, ...more }, terminal });
  const stations: number[] = [];
  const quiet = async () => {
    const began = performance.now();
    const said = () =>
      Buffer.concat(chunks)
        .subarray(stations.at(-1) ?? 0)
        .includes(says[stations.length] ?? "");
    const waits = () => performance.now() - heardAt >= QUIET_MS && chunks.length > 0 && said();
    do await Bun.sleep(QUIET_MS / 4);
    while (!waits() && performance.now() - began < MAX_MS);
    stations.push(Buffer.concat(chunks).length);
  };
  await quiet();
  for (const key of keys) {
    heardAt = performance.now();
    child.terminal?.write(key);
    await quiet();
  }
  child.kill("SIGKILL");
  sleeper.kill();
  await child.exited;
  const bytes = Buffer.concat(chunks);
  const head = Buffer.from(`${JSON.stringify({ cols: COLS, rows: ROWS, stations })}\n`);
  writeFileSync(join(import.meta.dir, `recordings/${name}.vt`), Buffer.concat([head, bytes]));
  console.log(`${name}: ${bytes.length} bytes, ${stations.length} stations`);
}

const wanted = process.argv.slice(2);
const isWanted = ({ name }: Session) => wanted.length === 0 || wanted.includes(name);
const cwd = mkdtempSync(join(tmpdir(), "hfrec-"));
writeFileSync(join(cwd, "text.txt"), TEXT);
writeFileSync(join(cwd, "code.ts"), CODE);
for (const session of SESSIONS.filter(isWanted)) await record(session, cwd);
const api = agentApi();
const claude = claudeSession(cwd, api.url.origin);
if (isWanted(claude)) await record(claude, cwd, join(cwd, "project"));
await api.stop(true);
rmSync(cwd, { recursive: true });
