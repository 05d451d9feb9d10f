// Restore commands: what may be run again without asking, because it continues instead of doing something twice.
// RC1. The user's own patterns come first, then the table. Everything else is typed, but never run.
// RC2. A program of the table is run again only in a form that cannot do harm: `ssh host` is, `ssh host ./deploy` is
//      not.

import { baseName, type Grammar, has, tellApart } from "../words.ts";
import { type AgentSessions, agentIn, resumeAgent } from "./coding-agent.ts";

/** `[restore.NAME]` of the configuration. */
export type RestoreRule = { readonly match: string; readonly run: string };

/** Words to be executed, or a line of the user's for their shell. */
export type RestoreCommand =
  | { readonly kind: "words"; readonly argv: readonly string[] }
  | { readonly kind: "line"; readonly line: string };

/** The placeholder for the original command. */
const COMMAND = "{command}";

export function restoreCommand(
  argv: readonly string[],
  sessions: AgentSessions,
  rules: readonly RestoreRule[],
  written: string,
): RestoreCommand | undefined {
  const text = argv.join(" ");
  const rule = rules.find(({ match }) => matches(match, text)); // RC1
  if (rule !== undefined) return { kind: "line", line: rule.run.replaceAll(COMMAND, () => written) };
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

/** RC2: the same words, if running them again only continues. */
function again(argv: readonly string[]): readonly string[] | undefined {
  const [program = "", ...words] = argv;
  return SAFE.get(baseName(program))?.(words) === true ? argv : undefined;
}

const VIM: Grammar = {
  values: ["-S", "-u", "-U", "-i", "-T", "-t", "--servername"],
  lists: [],
  optional: [],
  switches: [
    ...["-R", "-o", "-O", "-p", "-d", "-b", "-n", "-N", "-C", "-A", "-H", "-v", "-y", "-Z", "-m", "-M", "-L", "-r"],
    ...["-o2", "-O2", "-p2", "--clean", "--noplugin", "--not-a-term"],
  ],
};

/** Its files, or its session; not with commands of any kind, and not what came in through a pipe. */
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
const SSH_WORD = /^-(?:[46AaCgKkMNnqTtvXxYy]+|[BbcDEeFIiJLlmoPpRSWw].*)$/;

/** `-o RemoteCommand=./deploy`, `-oRemoteCommand ./deploy`: a command in an option. */
const SSH_COMMAND = /^(?:-o)?\s*(?:remote|local)command\b/i;

/** A login or a tunnel; a command on the other side would be run twice. */
function isSafeSsh(words: readonly string[]): boolean {
  if (words.some((word) => SSH_COMMAND.test(word))) return false;
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
