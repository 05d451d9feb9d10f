// Restore commands: what may be run again without asking, because it continues instead of doing something twice.
// RC1. The user's own patterns come first, then the table. Everything else is typed, but never run.
// RC2. A program of the table is run again only in a form that cannot do harm: `ssh host` is, `ssh host ./deploy` is
//      not, and neither is one whose options name a file of commands (`vim -S`, `ssh -F`).
// RC3. What is known of a program is what it says of itself. So it is run again only if it is the one that its PATH
//      finds by that name, and if it ran where we run: a program in a container or a sandbox is never run outside.

import { parentOf } from "../../base/path.ts";
import { baseName, type Grammar, has, tellApart } from "../words.ts";
import { agentIn } from "./agent-names.ts";
import { type AgentSessions, resumeAgent } from "./coding-agent.ts";

/** `[restore.NAME]` of the configuration. */
export type RestoreRule = { readonly match: string; readonly run: string };

/** Words to be executed, or a line of the user's for their shell. */
export type RestoreCommand =
  | { readonly kind: "words"; readonly argv: readonly string[] }
  | { readonly kind: "line"; readonly line: string };

/** The placeholder for the original command. */
const COMMAND = "{command}";

/** Where a program came from (RC3), as far as it is known. */
export type ProgramOrigin = { readonly elsewhere?: boolean; readonly notOnPath?: boolean };

export type RanBefore = ProgramOrigin & {
  readonly argv: readonly string[];
  /** `argv` as a line for a shell. */
  readonly written: string;
};

export function restoreCommand(
  { argv, written, elsewhere = false, notOnPath = false }: RanBefore,
  sessions: AgentSessions,
  rules: readonly RestoreRule[],
): RestoreCommand | undefined {
  if (elsewhere) return undefined; // RC3
  const text = argv.join(" ");
  const rule = rules.find(({ match }) => matches(match, text)); // RC1
  if (rule !== undefined) return { kind: "line", line: rule.run.replaceAll(COMMAND, () => written) };
  if (notOnPath) return undefined; // RC3
  const agent = agentIn(argv);
  const words = agent === undefined ? again(argv) : resumeAgent(agent, sessions);
  return words === undefined ? undefined : { kind: "words", argv: words };
}

/** A glob over the whole command line: `*` and `?`. */
function matches(glob: string, text: string): boolean {
  const pattern = [...glob].map((character) => WILD[character] ?? character.replace(/[\\^$.|+()[\]{}]/, "\\$&"));
  return new RegExp(`^${pattern.join("")}$`, "s").test(text);
}

const WILD: Readonly<Record<string, string>> = { "*": ".*", "?": "." };

type NamedProgram = { readonly name: string; readonly file: string };

/** The file that a command line runs, if it is a program that we know by its name; undefined for all others. */
function namedProgram(argv: readonly string[]): NamedProgram | undefined {
  const agent = agentIn(argv);
  const file = agent?.start.at(-1) ?? argv[0] ?? "";
  if (agent === undefined && !SAFE.has(baseName(file))) return undefined;
  return { name: agent?.agent ?? baseName(file), file };
}

/** What is known of the process: what its names mean to it. */
export type ProcessFacts = {
  readonly elsewhere: boolean;
  readonly executable: string;
  find(name: string): string | undefined;
  real(path: string): string | undefined;
};

/** RC3. Nothing is known of a process of another user. */
export function originOf(argv: readonly string[], facts: ProcessFacts | undefined): ProgramOrigin {
  if (facts === undefined || facts.elsewhere) return { elsewhere: true };
  const program = namedProgram(argv);
  return program === undefined || isOnPath(program, argv, facts) ? {} : { notOnPath: true };
}

/** A coding agent that was updated while it ran, which they do themselves, is another file in the same directory. */
function isOnPath({ name, file }: NamedProgram, argv: readonly string[], facts: ProcessFacts): boolean {
  const found = facts.find(name);
  if (found === undefined) return false;
  const runs = file !== argv[0] || file.includes("/") ? facts.real(file) : facts.executable;
  return runs === found || (agentIn(argv) !== undefined && parentOf(runs ?? "") === parentOf(found));
}

/** RC2: the same words, if running them again only continues. */
function again(argv: readonly string[]): readonly string[] | undefined {
  const [program = "", ...words] = argv;
  return SAFE.get(baseName(program))?.(words) === true ? argv : undefined;
}

const VIM: Grammar = {
  values: ["-i", "-T", "-t", "--servername"],
  lists: [],
  optional: [],
  switches: [
    ...["-R", "-o", "-O", "-p", "-d", "-b", "-n", "-N", "-C", "-A", "-H", "-v", "-y", "-Z", "-m", "-M", "-L", "-r"],
    ...["-o2", "-O2", "-p2", "--clean", "--noplugin", "--not-a-term"],
  ],
};

/** Its files; not with commands of any kind, in a file or not (`-S`, `-u`), and not what came in through a pipe. */
function isSafeVim(words: readonly string[]): boolean {
  const plain = words.filter((word) => !/^\+\d*$/.test(word));
  const { options, rest, doubtful } = tellApart(plain, VIM);
  const known = options.every(({ name }) => [...VIM.values, ...VIM.switches].includes(name));
  return known && !doubtful && !rest.some((word) => word === "-" || word.startsWith("+"));
}

const SSH: Grammar = {
  values: [..."BbcDEeFIiJLlmOoPpQRSWw"].map((letter) => `-${letter}`),
  lists: [],
  optional: [],
  switches: [..."46AaCGgKkMNnqsTtVvXxYy"].map((letter) => `-${letter}`),
};
/** Not `-o` and `-F`, which can name a command to run, `-I`, which loads a library, and `-E`, which writes a file. */
const SSH_WORD = /^-(?:[46AaCgKkMNnqTtvXxYy]+|[BbcDeiJLlmPpRSWw].*)$/;

/** A login or a tunnel; a command on the other side would be run twice. */
function isSafeSsh(words: readonly string[]): boolean {
  const { options, rest, doubtful } = tellApart(words.flatMap(apart), SSH);
  return rest.length === 1 && !doubtful && options.every(({ words: [word = ""] }) => SSH_WORD.test(word));
}

/** `-vvA` is `-v -v -A`; `-p22` has its value with it. */
function apart(word: string): string[] {
  return /^-[46AaCGgKkMNnqsTtVvXxYy]{2,}$/.test(word) ? [...word.slice(1)].map((letter) => `-${letter}`) : [word];
}

const TAIL: Grammar = {
  values: ["-n", "--lines", "-c", "--bytes", "-s", "--sleep-interval", "--pid", "--max-unchanged-stats"],
  lists: [],
  optional: [],
  switches: ["-f", "-F", "-q", "-v", "-z", "--retry", "--quiet", "--silent", "--verbose", "--zero-terminated"],
};

function isSafeTail(words: readonly string[]): boolean {
  const told = tellApart(words, TAIL);
  const follows = has(told, "--follow", "-f", "-F") || words.some((word) => /^-\d*[a-zA-Z]*[fF]/.test(word));
  return follows && !told.rest.includes("-") && told.rest.length > 0;
}

const SAFE: ReadonlyMap<string, (words: readonly string[]) => boolean> = new Map([
  ...["vi", "vim", "nvim", "view", "vimdiff"].map((name) => [name, isSafeVim] as const),
  ["ssh", isSafeSsh],
  ["tail", isSafeTail],
]);
