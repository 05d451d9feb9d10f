// The words of ssh that run one of our commands on another host. Pure.
// SS1. The other side gives what it runs to the user's shell, whichever that is: every word is quoted so that it is one
//      word, and the same one, for sh, bash, zsh, fish and csh alike. A word with a newline is refused by csh.
// SS2. A destination is a name, never an option or a command for ssh: what is not plain is refused.
import { ok, type Result, refused } from "../../base/result.ts";

/** `user@host`, a name from ~/.ssh/config, or `ssh://user@host:port`. */
const DESTINATION = /^(?:ssh:\/\/)?(?:[A-Za-z0-9_][\w.+-]{0,63}@)?[A-Za-z0-9_[][\w.:%\]-]{0,254}$/;

export type SshWish = {
  readonly destination: string;
  readonly words: readonly string[];
  /** The command has this window there. */
  readonly isInteractive: boolean;
};

export function sshWords({ destination, words, isInteractive }: SshWish): Result<readonly [string, ...string[]]> {
  if (!DESTINATION.test(destination)) {
    const message = `${JSON.stringify(destination)} is no destination of ssh.`;
    return refused("bad-host", message, 'On that host: [fleet] ssh = "user@host", then holdfast down; holdfast up'); // SS2
  }
  return ok(["ssh", isInteractive ? "-t" : "-T", "--", destination, words.map(quoted).join(" ")]);
}

/** SS1. In quotes, fish reads a backslash, and csh an exclamation mark: both are behind a backslash outside of them. */
function quoted(word: string): string {
  return `'${word.replaceAll(/['\\!]/g, (character) => `'\\${character}'`)}'`;
}
