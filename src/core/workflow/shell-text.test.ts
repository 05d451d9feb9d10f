import { expect, test } from "bun:test";
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

test("H3 after all of these a value is allowed again", () => {
  const made = shellText(
    "echo $((1 + (2))) ${v}; [[ a == b ]] || echo ${v}; cat <<<x; cat <<'A' <<B\n'\nA\n${v}\nB\necho ${v}",
  );
  expect(made.ok ? made.value.values.length : made.error).toBe(4);
});

test("a shell's own ${…} is written $${…}", () => {
  expect(run("x=1; echo $${x:-2} $${#x}", "", "/bin/sh")).toBe("1 1\n");
});
