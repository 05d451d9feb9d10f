// The programs in the terminals of a machine drill: real programs, each with a screen that is hard to restore.
// PR1. Each shows the mark once it has drawn its screen; its first output is then on its tape.
// PR2. Each of our own scripts records in its own file that it ran: what ran twice, or without being asked, shows
//      there.
// PR3. A program that is not installed is skipped; another kind is used instead.

import { joinPath } from "../../base/path.ts";
import type { RestorePolicy } from "../../core/terminal/restoration.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import type { Dice } from "../dice.ts";
import { DRILL_VARIABLE, type Site } from "../site.ts";

/** PR1 */
export const MARK = "drill-mark";

const ESC = "\u001b";
const COLOURS = `i=0
while [ $i -lt 60 ]; do
  printf '${ESC}[38;5;%dm%3d${ESC}[0m ${ESC}[1;3;4m終端 %d${ESC}[0m ${ESC}[48;2;10;%d;90mé e\u0301 👍 한글${ESC}[0m\\r\\n' $((i + 16)) $i $i $((i * 4))
  i=$((i + 1))
done
`;
const SCRIPTS = {
  "lines.sh": `echo ran >> "$1"
printf '${ESC}]2;lines of a drill${ESC}\\\\'
${COLOURS}printf '${ESC}[?2004h${ESC}[4:3m${MARK}'
exec sleep 100000
`,
  /** On the alternate screen, with a scroll region, mouse, hidden cursor, and a cursor position. */
  "full-screen.sh": `echo ran >> "$1"
printf 'what was there before\\r\\n${ESC}[?1049h${ESC}[?25l${ESC}[?1002h${ESC}[?1006h${ESC}[2J${ESC}[3;12r'
printf '${ESC}[2;5H${ESC}[7m full screen ${ESC}[0m${ESC}[7;20H${ESC}[1;38;2;255;120;0m▗▄▖ 終 ${MARK}${ESC}[9;3H'
exec sleep 100000
`,
  "busy.sh": `echo ran >> "$1"
printf '${MARK}\\r\\n'
n=0
while :; do
  printf '${ESC}[3%dm%d 端 of many${ESC}[0m\\r\\n' $((n % 8)) $n
  n=$((n + 1))
  [ $((n % 10)) -eq 0 ] && sleep 0.3
done
`,
  /** The configuration says that this one may be run again. */
  "again.sh": `echo ran >> "$1"
${COLOURS}printf '${MARK}'
exec sleep 100000
`,
} as const;

const RULE = '[restore.drill]\nmatch = "sh *again.sh *"\nrun = "{command}"\n';
/** As often as possible: every crash finds a checkpoint, and one crash hits the middle of one. */
const CHECKPOINT = "[checkpoint]\ninterval_ms = 1000\n";
export const MACHINE_CONFIG = `${CHECKPOINT}\n${RULE}`;

export type Kind = "shell" | "lines" | "full screen" | "less" | "vim" | "tail" | "busy" | "again" | "gone";

/** How a terminal comes back: `ready` as a shell with the old command typed and not run, `runs` by running it again. */
export type Back = "shell" | "ready" | "runs";

export type Planned = {
  readonly kind: Kind;
  readonly name: string;
  readonly lane: string;
  readonly policy: RestorePolicy;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: { readonly cols: number; readonly rows: number };
  /** Typed into it once it is running. */
  readonly input: string;
  readonly back: Back;
  /** PR2; undefined if it is not one of ours. */
  readonly ran: string | undefined;
};

/** Whether a restart shows in its own file (PR2). */
export function goesOn({ back, ran }: Planned): boolean {
  return back === "runs" && ran !== undefined;
}

const SIZES = [
  { cols: 80, rows: 24 },
  { cols: 120, rows: 40 },
  { cols: 61, rows: 17 },
] as const;

/** Creates the directories and files they need, and returns what to open. */
export async function planTerminals(site: Site, count: number, dice: Dice): Promise<readonly Planned[]> {
  const { disk } = site.world;
  const path = (name: string) => joinPath(site.home, name);
  for (const directory of ["drill", "drill/ran", "drill/work"]) disk.makeDirectory(path(directory));
  for (const [name, text] of Object.entries(SCRIPTS)) await writeAtomic(disk, path(`drill/${name}`), Buffer.from(text));
  await writeAtomic(disk, path("drill/text"), Buffer.from(manyLines()));
  const kinds = kindsHere(site);
  const planned: Planned[] = [];
  for (let n = 0; n < count; n += 1) {
    const kind = kinds[n % kinds.length] ?? "shell";
    const cwd = path(`drill/work/t${n}`);
    disk.makeDirectory(cwd);
    planned.push({ ...programOf(site, kind, n), name: `t${n}`, lane: `lane${n % 3}`, cwd, ...habits(dice, kind, n) });
  }
  return planned;
}

/** Some wait for a person, some are never restored; every kind that can be restored automatically is. */
function habits(dice: Dice, kind: Kind, n: number) {
  const policy: RestorePolicy = n % 9 === 4 ? "ask" : n % 9 === 6 ? "never" : "auto";
  const often: RestorePolicy = kind !== "gone" && dice.chance(0.1) ? "ask" : policy;
  return { policy: kind === "gone" ? "auto" : often, size: dice.pick(SIZES) ?? SIZES[0] };
}

function programOf(
  site: Site,
  kind: Kind,
  n: number,
): Pick<Planned, "kind" | "argv" | "env" | "input" | "back" | "ran"> {
  const file = (name: string) => joinPath(site.home, `drill/${name}`);
  const env = environmentOf(site);
  const script = (name: keyof typeof SCRIPTS, back: Back) => {
    const ran = file(`ran/t${n}`);
    return { kind, argv: ["sh", file(name), ran], env, input: "", back, ran };
  };
  const plain = (argv: readonly string[], back: Back, input = "") => ({ kind, argv, env, input, back, ran: undefined });
  if (kind === "shell") return plain(["bash", "--norc", "--noprofile"], "shell", TYPED);
  if (kind === "less") return plain(["less", "-R", file("text")], "ready");
  if (kind === "vim") return plain(["vim", "--clean", "-n", file("text")], "runs");
  if (kind === "tail") return plain(["tail", "-n", "50", "-f", file("text")], "runs");
  if (kind === "full screen") return script("full-screen.sh", "ready");
  if (kind === "busy") return script("busy.sh", "ready");
  return kind === "again" ? script("again.sh", "runs") : script("lines.sh", "ready");
}

/** The echo of the typed line does not contain the mark in one piece. */
const TYPED = `printf '\\033[1;35m%s\\033[0m 終端 é %s' colour drill"-mark"\r`;

function environmentOf({ world, home }: Site): Readonly<Record<string, string>> {
  const { PATH: path = "/usr/bin:/bin" } = world.self.environment();
  const shell = { SHELL: "/bin/sh", PS1: "drill $ ", LESSHISTFILE: "-", HOME: joinPath(home, "drill") };
  return { PATH: path, TERM: "xterm-256color", LANG: "C.UTF-8", ...shell, [DRILL_VARIABLE]: home };
}

/** PR3 */
function kindsHere({ world }: Site): readonly Kind[] {
  const { PATH: path = "" } = world.self.environment();
  const there = (program: string) => path.split(":").some((at) => world.disk.stat(joinPath(at, program)) !== undefined);
  const all: readonly Kind[] = ["shell", "lines", "full screen", "less", "vim", "tail", "busy", "again", "gone"];
  const needs: Partial<Record<Kind, string>> = { shell: "bash", less: "less", vim: "vim", tail: "tail" };
  return all.filter((kind) => there(needs[kind] ?? "sh"));
}

function manyLines(): string {
  const line = (n: number) => `${ESC}[3${n % 8}mline ${n}${ESC}[0m 終端 of a text with ${MARK}\n`;
  return Array.from({ length: 200 }, (_, n) => line(n)).join("");
}
