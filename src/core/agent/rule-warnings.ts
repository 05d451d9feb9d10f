// What a person should know about a rule before it decides without them.
// RW1. Only rules that allow are warned about; a warning changes nothing.
import { isList, jsonIn } from "../../base/json.ts";
import type { Rule } from "./rules.ts";

/** Programs that run others, or code that they are given: whoever may use one of them freely may run everything. */
const RUNNERS: ReadonlySet<string> = new Set(
  [
    "sh bash dash zsh ksh fish csh tcsh busybox env xargs find fd parallel eval exec command builtin source . trap",
    "sudo doas su runuser setpriv chroot unshare nsenter bwrap firejail systemd-run nice ionice nohup setsid timeout time",
    "stdbuf script watch flock strace ltrace gdb entr expect tmux screen holdfast at batch crontab ssh scp sftp rsync",
    "git hg svn make cmake ninja just rake ant gradle mvn cargo go npm npx pnpm pnpx yarn bun bunx deno node python",
    "python3 pip pip3 pipx uv uvx poetry perl ruby php lua tclsh awk gawk mawk sed ed vi vim nvim emacs less more man",
    "tar zip docker podman kubectl ansible psql mysql sqlite3 curl wget",
  ].flatMap((line) => line.split(" ")),
);

export function warningsOf({ decision, tool, args, input }: Rule): string[] {
  if (decision !== "allow" || input !== undefined) return []; // RW1
  const patterns = Object.entries(args);
  if (patterns.length === 0) return [`It allows every use of ${tool}, whatever its arguments are.`];
  return patterns.flatMap(([name, pattern]) => (COMMANDS.test(name) ? ofCommand(pattern) : []));
}

/** Arguments that have a command, in the tools of today's agents. */
const COMMANDS = /^(?:command|cmd|argv|script|title)$/i;

function ofCommand(pattern: string): string[] {
  const program = programIn(pattern);
  if (program === "" || /[*?[]/.test(program)) return [`"${pattern}" leaves open which program is run.`];
  if (!RUNNERS.has(program)) return [];
  return [`${program} can run other programs: with "${pattern}", an agent may be able to run anything.`];
}

/** The first word, without its directory; variables that are set for it come before. */
function programIn(pattern: string): string {
  const list = jsonIn(pattern.replaceAll("[[]", "["));
  const words = isList(list) ? list.map(String) : pattern.replace(/^\[\[\]"/, "").split(/[\s"]+/);
  const word = words.find((one) => !/^[A-Za-z_]\w*=/.test(one)) ?? "";
  return word.slice(word.lastIndexOf("/") + 1);
}
