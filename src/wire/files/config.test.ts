// Claims about the configuration: its defaults, what a file changes, and how wrong files are reported.
import { describe, expect, test } from "bun:test";
import { type ConfigSource, configPath, configRefusal, type LoadedConfig, loadConfig, problemText } from "./config.ts";
import { controlByte } from "./config-fields.ts";
import { inFile } from "./config-schema.ts";
import { configReference, showConfig } from "./config-show.ts";

const PATH = "/etc/c.toml";
const VARIABLES: Readonly<Record<string, string>> = { HOLDFAST_CONFIG: PATH, HOME: "/u/ann", SHELL: "/bin/fish" };

function source(text: string | Uint8Array | undefined, variables = VARIABLES): ConfigSource {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  return {
    env: (name) => variables[name],
    absolute: (path) => (path.startsWith("/") ? path : `/here/${path}`),
    read: (path) => (path === configPath(source(undefined, variables)) ? bytes : undefined),
  };
}

function load(text: string | undefined, variables = VARIABLES): LoadedConfig {
  const loaded = loadConfig(source(text, variables));
  if (!loaded.ok) throw new Error(loaded.error.map(problemText).join("\n"));
  return loaded.value;
}

function problems(text: string | Uint8Array): string[] {
  const loaded = loadConfig(source(text));
  return loaded.ok ? [] : loaded.error.map((problem) => problemText(problem).replace(`${PATH}:`, ""));
}

describe("without a file", () => {
  test("everything has its default", () => {
    const { config, found } = load(undefined);
    expect(found).toBe(false);
    expect(config).toMatchObject({
      daemon: { heartbeatMs: 2_000, unresponsiveKillS: 30 },
      crashLoop: { crashes: 3, windowS: 60 },
      recovery: { stageTimeoutS: 30, maxAttempts: 3 },
      terminal: { tapeBytes: 67_108_864, segmentBytes: 4_194_304, detachKey: "ctrl-\\", term: "xterm-256color" },
      web: { enabled: true, port: 0 },
      watch: {},
      restore: {},
    });
  });

  test("it is as with a file that says nothing, which is read as a whole", () => {
    for (const variables of [VARIABLES, { HOME: "/u", SHELL: "fish" }, { HOLDFAST_CONFIG: PATH }]) {
      const read = load("# nothing\n", variables);
      expect(load(undefined, variables)).toEqual({ ...read, found: false });
      expect(load("", variables)).toEqual({ ...read, found: true });
    }
  });

  test("the shell is $SHELL, unless that is not a full path", () => {
    expect(load(undefined).config.terminal.shell).toBe("/bin/fish");
    expect(load(undefined, { HOME: "/u", SHELL: "fish" }).config.terminal.shell).toBe("/bin/sh");
    expect(load(undefined, {}).config.terminal.shell).toBe("/bin/sh");
  });
});

describe("the file", () => {
  test("is HOLDFAST_CONFIG, else in the XDG directory, else in ~/.config", () => {
    const at = (variables: Record<string, string>) => configPath(source(undefined, variables));
    expect(at({ HOLDFAST_CONFIG: "x.toml", XDG_CONFIG_HOME: "/xdg", HOME: "/u" })).toBe("/here/x.toml");
    expect(at({ XDG_CONFIG_HOME: "/xdg", HOME: "/u" })).toBe("/xdg/holdfast/config.toml");
    expect(at({ XDG_CONFIG_HOME: "relative", HOME: "/u" })).toBe("/u/.config/holdfast/config.toml");
    expect(at({})).toBeUndefined();
  });

  test("changes what it names and leaves the rest", () => {
    const { config } = load(`
      [daemon]
      heartbeat_ms = 500
      [terminal]
      detach_key = false
      env_allow = ["CI_TOKEN"]
      shell = "~/bin/sh"
    `);
    expect(config.daemon).toEqual({ heartbeatMs: 500, unresponsiveKillS: 30 });
    expect(config.terminal).toMatchObject({ detachKey: false, envAllow: ["CI_TOKEN"], shell: "/u/ann/bin/sh" });
  });

  test("PR-1(b) has rules for agents, in the order of the file; a pattern that is none is named", () => {
    const rules = '[rule.b]\ndecision = "deny"\ntool = "*"\n[rule.a]\ndecision = "allow"\ntool = "Read"\n';
    expect(Object.entries(load(rules).config.rule)).toEqual([
      ["b", { decision: "deny", tool: "*", args: {}, message: "" }],
      ["a", { decision: "allow", tool: "Read", args: {}, message: "" }],
    ]);
    const wrong = '[rule.x]\ndecision = "allow"\ntool = "[a"\nargs = { command = "" }\n[rule.1]\n';
    expect(problems(wrong).join("\n")).toMatch(
      /rule\.x\.tool is "\[a".*rule\.x\.args\.command is "".*"1" cannot be a name here\. The name of a rule begins/s,
    );
  });

  test("WD-8(d) names the programs to watch", () => {
    const { config } = load(`
      [watch.api]
      command = ["bun", "server.ts"]
      cwd = "/srv/api"
      env = { PORT = "80" }
      heartbeat_ms = 1000
      [watch."db.1"]
      command = ["postgres"]
    `);
    expect(config.watch).toEqual({
      api: { command: ["bun", "server.ts"], cwd: "/srv/api", env: { PORT: "80" }, heartbeatMs: 1_000 },
      "db.1": { command: ["postgres"], cwd: "/u/ann", env: {}, heartbeatMs: 0 },
    });
  });
});

describe("DS-1(b) a wrong file names the key, the line, what was found and what is expected", () => {
  const wrong: readonly (readonly [text: string, problem: string])[] = [
    [
      "[daemon]\n\nheartbeat_ms = 'fast'",
      '3:1: daemon.heartbeat_ms is "fast". It takes a whole number from 100 to 60000.',
    ],
    ["[daemon]\nheartbeat_ms = 99", "2:1: daemon.heartbeat_ms is 99. It takes a whole number from 100 to 60000."],
    ["[daemon]\nheartbeat_ms = 1.5e3", ""],
    [
      "[log]\nsegment_bytes = 100000",
      "2:1: log.segment_bytes is 100000. It takes a multiple of 4096 from 2097152 to 1073741824.",
    ],
    ["[web]\nport = nan", "2:1: web.port is NaN. It takes a whole number from 0 to 65535."],
    ["[web]\nenabled = 'yes'", '2:1: web.enabled is "yes". It takes true or false.'],
    ["daemon.hartbeat_ms = 5", "1:1: There is no setting daemon.hartbeat_ms. Did you mean daemon.heartbeat_ms?"],
    ["[deamon]\nx = 1", "1:2: There is no setting deamon. Did you mean daemon?"],
    ["[daemon]\nport = 80", "2:1: There is no setting daemon.port. Did you mean web.port?"],
    ["[web]\nzzzzzzzz = 80", "2:1: There is no setting web.zzzzzzzz. There is: web.enabled, web.port."],
    ["web = 8080", "1:1: web is 8080. It is a table: write [web], and its settings below."],
    ["[terminal]\nenv_deny = 'A_*'", '2:1: terminal.env_deny is "A_*". It takes a list of words (["a", "b"]).'],
    ["[terminal]\nenv_deny = ['A', 1]", "2:18: terminal.env_deny.2 is 1. It takes a text."],
    ["[terminal]\nshell = 'bash'", '2:1: terminal.shell is "bash". It takes a full path (/… or ~/…).'],
    ["[terminal]\nterm = ''", '2:1: terminal.term is "". It takes a text.'],
    [
      "[terminal]\ndetach_key = 'f1'",
      '2:1: terminal.detach_key is "f1". It takes "ctrl-" and a letter or one of @ [ \\ ] ^ _ (a backslash is written "ctrl-\\\\"), or false.',
    ],
    [
      "[terminal]\ntape_bytes = 65536",
      "2:1: terminal.segment_bytes is 4194304, and terminal.tape_bytes is 65536. It takes at most what terminal.tape_bytes is.",
    ],
    [
      "[watch.api]\ncwd = '/'",
      '1:2: watch.api.command is missing. It takes a program and its arguments (["bun", "server.ts"]).',
    ],
    ["[restore.dev]\nrun = 'x'", "1:2: restore.dev.match is missing. It takes a text."],
    ["[restore.dev]\nmatch = 'x'\nrun = \"a\\nb\"", '3:1: restore.dev.run is "a\\nb". It takes a text.'],
    ["[restore.daemon]\nmatch = 'npm *'", ""],
    [
      "[watch.api]\ncommand = []",
      '2:1: watch.api.command is an empty list. It takes a program and its arguments (["bun", "server.ts"]).',
    ],
    [
      "[watch.api]\ncommand = ['', 'x']",
      '2:1: watch.api.command is a list. It takes a program and its arguments (["bun", "server.ts"]).',
    ],
    ["[watch.api]\ncommand = ['x']\nenv = {A = 1}", "3:8: watch.api.env.A is 1. It takes a text."],
    [
      "[watch.api]\ncommand = ['x']\nenv = {'A=B' = 'x'}",
      '3:8: "A=B" cannot be a name here. It takes a table of names and texts ({ NAME = "text" }).',
    ],
    [
      "[watch.daemon]\ncommand = ['x']",
      '1:2: "daemon" cannot be a name here. A process of Holdfast has it; choose another one.',
    ],
    [
      "[watch.'a/b']\ncommand = ['x']",
      '1:2: "a/b" cannot be a name here. A name has letters, digits, dot, dash and underscore, at most 64.',
    ],
    [
      "[watch.a]\ncommand = ['x']\nprogram = 1",
      "3:1: There is no setting watch.a.program. There is: watch.a.command, watch.a.cwd, watch.a.env, watch.a.heartbeat_ms.",
    ],
  ];

  test.each(wrong)("%j", (text, problem) => {
    expect(problems(text)).toEqual(problem === "" ? [] : [problem]);
  });

  test("a path below ~ needs a HOME", () => {
    const loaded = loadConfig(source("[terminal]\nshell = '~/sh'", { HOLDFAST_CONFIG: PATH }));
    expect(loaded.ok ? [] : loaded.error.map(({ line, key, message }) => [line, key, message])).toEqual([
      [2, "terminal.shell", 'terminal.shell is "~/sh".'],
    ]);
  });

  test("all of them at once, in the order of the file", () => {
    const found = problems("[web]\nport = -1\n[daemon]\nheartbeat_ms = 0\nx = 1\n[nothing]\n[watch]\na = 1");
    expect(found.map((line) => line.split(" ")[0])).toEqual(["2:1:", "4:1:", "5:1:", "6:2:", "8:1:"]);
  });

  test("what is not TOML is reported with line and column", () => {
    expect(problems("[daemon]\nheartbeat_ms = = 5")[0]).toStartWith(
      "2:16: This is not TOML: expected a value but found",
    );
    expect(problems(Uint8Array.of(0x61, 0xff))).toEqual(["1:1: The file is not in UTF-8. Save it as UTF-8 text."]);
    expect(problems(Buffer.alloc((1 << 20) + 1, 0x20))[0]).toStartWith("1:1: The file has 1048577 bytes.");
  });

  test("a long value is cut, and a refusal has every problem in it", () => {
    const loaded = loadConfig(source(`[web]\nport = "${"x".repeat(1000)}"\nenabled = 1`));
    const refusal = loaded.ok ? undefined : configRefusal(loaded.error);
    expect(refusal?.message.split("\n")).toHaveLength(3);
    expect(refusal?.message.length).toBeLessThan(300);
    expect(refusal).toMatchObject({ code: "bad-config", hint: expect.stringContaining(PATH) });
  });
});

describe("showing it", () => {
  const text = "[daemon]\nheartbeat_ms = 500\n[watch.api]\ncommand = ['a b', '\\']\nenv = { 'A.B' = \"x\\ty\" }\n";

  test("says for each setting where it comes from", () => {
    const shown = showConfig(load(text));
    expect(shown).toMatch(/^# from \/etc\/c\.toml\n/);
    expect(shown).toMatch(/^heartbeat_ms = 500 +# line 2$/m);
    expect(shown).toMatch(/^unresponsive_kill_s = 30 +# default$/m);
    expect(showConfig(load(undefined))).toMatch(/^# defaults; there is no \/etc\/c\.toml\n/);
  });

  test("and can be read again to the same settings", () => {
    for (const before of [load(text), load(undefined)]) {
      for (const width of [undefined, 20, 80]) {
        const after = load(showConfig(before, width));
        expect(after.config).toEqual(before.config);
      }
    }
  });

  test("fits a window, as far as TOML allows that", () => {
    const lines = showConfig(load(undefined), 60).split("\n");
    for (const line of lines) expect([line, line.length > 60]).toEqual([line, false]);
    expect(lines.some((line) => line.startsWith('  "'))).toBe(true);
  });

  test("but what looks like a secret is not shown", () => {
    const shown = showConfig(load("[watch.api]\ncommand = ['x']\nenv = { API_KEY = 'hunter2', PORT = '80' }"));
    expect(shown).not.toContain("hunter2");
    expect(shown).toContain('env = { API_KEY = "(not shown)", PORT = "80" }');
  });

  test("the reference names every setting", () => {
    const page = configReference();
    const file = "[watch.NAME]\ncommand = ['x']\n[restore.NAME]\nmatch = 'x'\n[provider.NAME]\nkind = 'acp'";
    const { watch, restore, provider, ...sections } = load(file).config;
    const named = [watch["NAME"] ?? {}, restore["NAME"] ?? {}, provider["NAME"] ?? {}];
    const settings = [...Object.values(sections), ...named].flatMap((values) => Object.keys(values));
    expect(settings.length).toBeGreaterThan(20);
    for (const name of settings) expect(page).toContain(`| \`${inFile(name)}\` |`);
    expect(page).toContain("## [watch.NAME]");
    expect(page).toContain("## [restore.NAME]");
  });
});

test("the byte of the detach key is what a terminal sends", () => {
  expect(["ctrl-\\", "ctrl-a", "ctrl-A", "ctrl-]", "ctrl-@", "ctrl-1", "x"].map(controlByte)).toEqual([
    ...[0x1c, 1, 1, 0x1d, 0],
    ...[undefined, undefined],
  ]);
});
