import { expect, test } from "bun:test";
import { sshWords } from "./ssh.ts";

const NASTY = [
  ...["plain", "", "two words", "-oProxyCommand=x", "--", "$HOME", "`id`", "$(id)", "a;b", "a&&b", "a|b", "> /tmp/x"],
  ...[
    "it's",
    "''",
    "\\",
    "\\'",
    "ends with \\",
    "!!",
    "a!b",
    "*",
    "~",
    "{a,b}",
    "#",
    '"',
    "\t",
    "\n",
    "ü漢",
    "\u001b[2J",
  ],
];

function remoteLine(words: readonly string[]): string {
  const made = sshWords({ destination: "host", words, isInteractive: false });
  return made.ok ? (made.value.at(-1) ?? "") : "";
}

for (const shell of ["sh", "bash", "zsh", "fish"].filter((name) => Bun.which(name) !== null)) {
  test(`SS1 ${shell} gives back each word as it was`, () => {
    const child = Bun.spawnSync([shell, "-c", remoteLine(["printf", "%s\\0", ...NASTY])]);
    expect(child.stdout.toString().split("\0").slice(0, -1)).toEqual(NASTY);
  });
}

test("SS2 a destination is a plain name, and stands where no option is read", () => {
  for (const destination of ["host", "ann@build-1.example.org", "ssh://ann@build:2222", "[::1]", "10.0.0.1"])
    expect(sshWords({ destination, words: ["x"], isInteractive: true })).toEqual({
      ok: true,
      value: ["ssh", "-t", "--", destination, "'x'"],
    });
  const bad = ["", "-oProxyCommand=id", "a b", "a;id", "$(id)", "ann@-x", "@host", "a\nb", "'x'", "host/path"];
  for (const destination of bad)
    expect(sshWords({ destination, words: [], isInteractive: true })).toMatchObject({ ok: false });
});
