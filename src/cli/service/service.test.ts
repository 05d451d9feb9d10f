import { expect, test } from "bun:test";
import fc from "fast-check";
import { commandWords, linesOf, unitWords } from "../../../tests/cli/unit-parser.ts";
import { PROFILE } from "../../../tests/sim/fuzz/profile.ts";
import { plistText } from "./plist.ts";
import { homeInUnit, isPlainPath, type ServiceFacts, serviceEnvironment, unitText } from "./unit.ts";

const odd = "/opt/a b/%h $HOME/\"q\"/'s'/\\n;#é";

function facts(home: string): ServiceFacts {
  const environment = { PATH: `/usr/bin:${home}`, HOLDFAST_HOME: home };
  const start = ["/bin/bun", "--no-env-file", "/x/main.ts", home];
  return { start, condition: ["/bin/bun", "__ready", home], home, log: `${home}/run/watchdog.log`, environment };
}

test("U1 systemd's rules read back every word of the unit unchanged: spaces, %, $, quotes, backslashes", () => {
  const text = unitText(facts(odd));
  expect(commandWords(text, "ExecStart")).toEqual(["/bin/bun", "--no-env-file", "/x/main.ts", odd]);
  expect(commandWords(text, "ExecCondition")).toEqual(["/bin/bun", "__ready", odd]);
  expect(linesOf(text, "Environment").flatMap(unitWords)).toEqual([`PATH=/usr/bin:${odd}`, `HOLDFAST_HOME=${odd}`]);
  expect(linesOf(text, "StandardError")).toEqual([`append:${odd.replaceAll("%", "%%")}/run/watchdog.log`]);
  expect(homeInUnit(text)).toBe(odd);
});

test("U1 any text survives, control characters too", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const home = `/${text.replaceAll("\0", "").toWellFormed()}`;
      const unit = unitText(facts(home));
      expect(commandWords(unit, "ExecStart")).toEqual(["/bin/bun", "--no-env-file", "/x/main.ts", home]);
      expect(homeInUnit(unit)).toBe(home);
    }),
    { seed: PROFILE.seed },
  );
});

test("U2 the unit leaves daemon and holders alone, and always restarts the watchdog", () => {
  const text = unitText(facts("/h"));
  const wanted = {
    KillMode: "process",
    Restart: "always",
    OOMPolicy: "continue",
    StartLimitIntervalSec: "0",
    UMask: "0077",
  };
  for (const [key, value] of Object.entries(wanted)) expect([key, linesOf(text, key)]).toEqual([key, [value]]);
  expect(linesOf(text, "WantedBy")).toEqual(["default.target"]);
});

test("U4 the shell's PATH, language and directories are copied; its login, secrets and odd values are not", () => {
  const shell = {
    ...{ PATH: "/p", SHELL: "/bin/zsh", LANG: "C", LC_ALL: "C", XDG_CONFIG_HOME: "/c", HOLDFAST_CONFIG: "/c/x.toml" },
    ...{ SSH_AUTH_SOCK: "/tmp/agent", XDG_RUNTIME_DIR: "/run/user/1", API_KEY: "s", TERM: "xterm", LC_TIME: "a\nb" },
  };
  const { PATH, SHELL, LANG, LC_ALL, XDG_CONFIG_HOME, HOLDFAST_CONFIG } = shell;
  const taken = { PATH, SHELL, LANG, LC_ALL, XDG_CONFIG_HOME, HOLDFAST_CONFIG, HOLDFAST_HOME: "/h" };
  expect(serviceEnvironment(shell, "/h")).toEqual(taken);
});

test("a unit that is not ours has no home; a path that cannot be escaped is recognized", () => {
  expect(homeInUnit("[Service]\nExecStart=/bin/x\n")).toBeUndefined();
  expect([isPlainPath("/a b"), isPlainPath("a"), isPlainPath("/a\nb"), isPlainPath("/a ")]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("the launchd agent has the same content, as XML", () => {
  const text = plistText({ ...facts("/a & <b>"), environment: { PATH: "/p&q" } });
  expect(text).toContain("<array><string>/bin/bun</string><string>--no-env-file</string><string>/x/main.ts</string>");
  expect(text).toContain("<string>/a &amp; &lt;b&gt;</string></array>");
  expect(text).toContain("    <key>PATH</key><string>/p&amp;q</string>");
  for (const key of ["RunAtLoad", "KeepAlive", "AbandonProcessGroup"])
    expect(text).toContain(`<key>${key}</key><true/>`);
});
