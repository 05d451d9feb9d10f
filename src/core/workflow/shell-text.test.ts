import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { PROFILE } from "../../../tests/sim/fuzz/profile.ts";
import { textOf } from "../../base/json.ts";
import { evaluate } from "./evaluate.ts";
import { shellText } from "./shell-text.ts";

/** Runs a shell text with `v` as the value of every `${v}`, and returns its output. */
function run(text: string, v: string, shell: string): string {
  const made = shellText(text);
  if (!made.ok) throw new Error(made.error.message);
  const env: Record<string, string> = { PATH: "/usr/bin:/bin" };
  for (const { name, expression } of made.value.values) {
    const value = evaluate(expression, { look: () => v });
    env[name] = value.ok ? textOf(value.value) : "";
  }
  const { stdout, stderr } = Bun.spawnSync([shell, "-e", "-c", made.value.script], { env, cwd: "/" });
  return stdout.toString() + stderr.toString();
}

/** Shell texts, and the output of each for a value. */
const PLACES: readonly (readonly [text: string, wrote: (v: string) => string])[] = [
  ["printf '[%s]' ${v}", (v) => `[${v}]`],
  ['printf "[%s]" "${v}"', (v) => `[${v}]`],
  ["printf '[%s]' '${v}'", (v) => `[${v}]`],
  ["printf '[%s]' x${v}y", (v) => `[x${v}y]`],
  ["printf '[%s]' \"it's ${v}\"", (v) => `[it's ${v}]`],
  ['printf "[%s]" "$(printf %s. ${v})"', (v) => `[${v}.]`],
  ['printf "[%s]" "`printf %s. ${v}`"', (v) => `[${v}.]`],
  ["# don't stop here\nprintf '[%s]' ${v}", (v) => `[${v}]`],
  ["x=${v}; printf '[%s]' \"$x\"", (v) => `[${v}]`],
  ["cat <<END\n[${v}.]\nEND\nprintf '[%s]' ${v}", (v) => `[${v}.]\n[${v}]`],
  ["cat <<-'END'\n\t'\n\tEND\nprintf '[%s]' ${v}", (v) => `'\n[${v}]`],
  ["(printf '[%s]' ${v}); case a in a) printf '[%s]' ${v};; esac", (v) => `[${v}][${v}]`],
  ["printf '[%s]' \\'${v}\\\"", (v) => `['${v}"]`],
  ["printf '[%s]' \"$(cat <<END\n${v}.\nEND\n)\"", (v) => `[${v}.]`],
];

/** Texts that would be noticed: words, globs, commands, quotes, comments, ends of here-documents. */
const nasty = fc.constantFrom(
  "a b",
  "*",
  "$(echo pwned)",
  "`echo pwned`",
  "'",
  '"',
  "\\",
  "\n",
  "END",
  "#",
  ";exit 7;",
  "$HOME",
  "~",
  "&",
  "ä",
  "-n",
);
const values = fc.array(nasty, { maxLength: 5 }).map((parts) => parts.join(""));

test.each(["/bin/sh", "/bin/bash"])(
  "H1 H2 a value arrives unchanged in %s",
  (shell) => {
    fc.assert(
      fc.property(values, (v) => {
        for (const [text, wrote] of PLACES)
          expect({ text, wrote: run(text, v, shell) }).toEqual({ text, wrote: wrote(v) });
      }),
      { numRuns: 15, seed: PROFILE.seed },
    );
  },
  180_000,
);

test("H1 the text is the same for every value, and does not contain it", () => {
  const made = shellText('echo ${a} "${b}"');
  expect(made.ok ? made.value.script : "").toBe('echo "${HOLDFAST_VALUE_1}" "${HOLDFAST_VALUE_2}"');
});

test("H2 bash's $'…' is closed around a value and opened again", () => {
  expect(run("printf '[%s]' $'a\\t${v}\\n.'", "$(x) '", "/bin/bash")).toBe("[a\t$(x) '\n.]");
});

test.each([
  "echo $((${v} + 1))",
  "(( ${v} > 1 ))",
  "if [[ ${v} -gt 1 ]]; then echo; fi",
  'if [[ "${v}" -gt 1 ]]; then echo; fi',
  "cat <<'END'\n${v}\nEND",
  "cat <<\\END\n${v}\nEND",
])("H3 a value is refused in %s", (text) => {
  const made = shellText(text);
  expect(made.ok ? "" : made.error.message).toContain("A value cannot stand in");
});

/** Each of them runs a command in bash if the value is placed there as one word: `a[$(…)]`, or the command itself. */
const EXECUTED: readonly string[] = [
  "echo $[${v}]",
  'echo "$[1 + ${v}]"',
  "let x=${v}",
  'let "x = ${v}"',
  "if true; then let x=${v}; fi",
  "a[${v}]=1",
  "a=([${v}]=1)",
  "a=(1 2 [${v}]=3)",
  "a=(1); echo $${a[${v}]}",
  'a=(1); echo "$${a[${v}]}"',
  "x=abc; echo $${x:${v}}",
  "x=abc; echo $${x:0:${v}}",
  "a=(1); unset a[${v}]",
  "[ -v ${v} ]",
  "test -v ${v}",
  "test -v a[${v}]",
  "! [ -v ${v} ] && echo",
  "printf -v ${v} x",
  "printf -v${v} x",
  "builtin printf \\\n -v ${v} x",
  "read ${v} <<<x",
  "declare ${v}=1",
  "declare -i x=${v}",
  "f() { local -i x=${v}; }; f",
  "eval ${v}",
  'eval "echo ${v}"',
  "X=1 command eval echo ${v}",
  "true 2>&1 && eval 2>&1 echo ${v}",
  "case a in a) eval ${v};; esac",
  "f() { eval ${v}; }; f",
  "function f { eval ${v}; }; f",
  "(cd .; { eval ${v}; })",
  "echo $(eval ${v})",
  "trap ${v} EXIT",
  "trap 'echo ${v}' EXIT",
  "sh -c ${v}",
  "sh -c 'echo ${v}'",
  '/bin/bash -ec "echo ${v}"',
  "bash -o pipefail -c ${v}",
  "env X=1 bash --norc -c ${v}",
  'sh \\\n  -c \\\n  "echo ${v}"',
  "echo x | xargs -I{} sh -c 'echo {} ${v}'",
  "sh <<END\necho ${v}\nEND",
  "bash -s x <<END\necho ${v}\nEND",
  "bash <<<${v}",
  'bash <<< "echo ${v}"',
];

test("H3 what bash would execute is refused: it is, if it is placed there", () => {
  const scratch = mkdtempSync(join(tmpdir(), "hfshell-"));
  const run = (text: string, value: string) => {
    rmSync(join(scratch, "ran"), { force: true });
    Bun.spawnSync(["/bin/bash", "-c", placed(text)], { env: { PATH: "/usr/bin:/bin", V: value }, cwd: scratch });
    return existsSync(join(scratch, "ran"));
  };
  const values = ["a[$(touch ran)]", "$(touch ran)", "touch ran"];
  const harmless = EXECUTED.filter((text) => !values.some((value) => run(text, value)));
  rmSync(scratch, { recursive: true });
  expect(harmless).toEqual([]);
  const allowed = EXECUTED.filter((text) => shellText(text).ok);
  expect(allowed).toEqual([]);
});

/** The value as one word, in every kind of quotes, as H2 writes it. */
function placed(text: string): string {
  let quote = "";
  return text.replaceAll(/\\.|['"]|\$\$\{|\$\{v\}/gs, (found) => {
    if (found === "$${") return "${";
    if (found === "'" || found === '"') quote = quote === found ? "" : quote === "" ? found : quote;
    if (found !== "${v}") return found;
    return { "'": `'"$V"'`, '"': "$V" }[quote] ?? '"$V"';
  });
}

test.each([
  "sh -c 'echo \"$1\"' sh ${v}",
  "su nobody -c 'echo \"$1\"' x ${v}",
  "read -r a b <<< ${v}",
  "read -r x < ${v}; read -p ${v} y",
  "while read -r line; do echo $line; done <${v}",
  'eval "$(tool)" >${v} 2>> ${v}',
  "trap - EXIT; echo ${v}",
  'declare x=${v}; local y="a${v}"; export Z=${v}',
  "[ ${v} = x ] && [ -n ${v} -a ${v} -gt 3 ] || test ${v}",
  "printf '[%s]' ${v} ${v}; printf -v name '%s' ${v}; printf \"${v}\\n\"",
  "echo a[${v}] eval; ls ${v}/sh",
  "echo $${x:-${v}} $${x:=${v}} $${a[0]}${v} $${x:1:2}${v}",
  "a=(${v} x${v}); a+=(${v})",
  "x=${v} make; ${v} --version",
  "cat <<END | tool\n${v}\nEND",
  "# eval ${v}\necho ${v}",
  "python3 - ${v} <<END\nprint(1)\nEND\necho done",
  'command -v ${v}; echo "$((1 + 2)) ${v}"',
])("H3 a value may stand in %s", (text) => {
  const made = shellText(text);
  expect(made.ok ? "" : made.error.message).toBe("");
});

test("H3 after all of these a value is allowed again", () => {
  const made = shellText(
    "echo $((1 + (2))) ${v}; [[ a == b ]] || echo ${v}; cat <<<x; cat <<'A' <<B\n'\nA\n${v}\nB\necho ${v}",
  );
  expect(made.ok ? made.value.values.length : made.error).toBe(4);
});

test("a shell's own ${…} is written $${…}", () => {
  expect(run("x=1; echo $${x:-2} $${#x}", "", "/bin/sh")).toBe("1 1\n");
});
