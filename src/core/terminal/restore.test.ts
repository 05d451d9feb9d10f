import { describe, expect, test } from "bun:test";
import { type AgentSessions, NO_SESSIONS, withSession } from "./coding-agent.ts";
import type { Evidence, Restored } from "./restoration.ts";
import { aimOf, evidenceFor, messageOf, planRestore, type RestoreFacts } from "./restore.ts";
import { originOf, type RestoreRule } from "./restore-commands.ts";
import type { Terminal } from "./terminal.ts";

const AT = "2026-01-01T00:10:00.000Z";
const ID = "0f7a2f8e-1111-4222-8333-444455556666";
const OTHER = "0f7a2f8e-1111-4222-8333-777788889999";

function terminal(argv: readonly string[], changes: Partial<Terminal> = {}): Terminal {
  return {
    id: "t1",
    name: "one",
    lane: "main",
    recipe: { argv, cwd: "/w", env: {}, size: { cols: 80, rows: 24 } },
    generation: 1,
    createdAt: "2026-01-01T00:00:00.000Z",
    state: { kind: "running", pid: 1, startTime: 1, bootId: "b", holder: 2 },
    signal: undefined,
    unset: [],
    policy: "auto",
    restored: undefined,
    restorations: [],
    rollingBack: false,
    removed: false,
    ...changes,
  };
}

function facts(changes: Partial<RestoreFacts> = {}): RestoreFacts {
  const fixed = { reason: "the machine went down", at: AT, evidence: undefined, doubt: null, sessions: NO_SESSIONS };
  return { ...fixed, rules: [], directory: "/w", shell: "/bin/bash", way: "plan", asked: false, ...changes };
}

function inFront(argv: readonly string[], cwd = "/w"): Evidence {
  return { workingDirectory: "/w", foreground: { argv, cwd, startedAt: AT } };
}

function sessions(known: readonly string[], recent: readonly string[] = []): AgentSessions {
  return { known, recent };
}

/** What is executed and typed for a program without a shell. */
function alone(argv: readonly string[], changes: Partial<RestoreFacts> = {}) {
  const plan = planRestore(terminal(argv), facts(changes));
  return plan.kind === "start" ? { argv: plan.argv, typed: plan.typed } : plan;
}

/** What is typed for a program in front of a shell. */
function typedFor(argv: readonly string[], changes: Partial<RestoreFacts> = {}): string {
  const plan = planRestore(terminal(["bash"]), facts({ evidence: inFront(argv), ...changes }));
  return plan.kind === "start" ? plan.typed : plan.kind;
}

const run = (argv: readonly string[]) => ({ argv, typed: "" });
const ready = (typed: string) => ({ argv: ["/bin/bash"], typed });

describe("claude", () => {
  const flags = ["--permission-mode", "plan", "--add-dir", "/a", "/b", "--dangerously-skip-permissions"];

  test("continues its conversation, every other flag as it was, and its prompt not given again", () => {
    const known = { sessions: sessions([ID]) };
    expect(alone(["claude", "--session-id", ID, ...flags, "--", "fix it"], known)).toEqual(
      run(["claude", "--resume", ID, ...flags]),
    );
    expect(alone(["/opt/claude", "--verbose", "fix it", `--resume=${ID}`], known)).toEqual(
      run(["/opt/claude", "--resume", ID, "--verbose"]),
    );
  });

  test("starts the conversation with its id if it never started", () => {
    expect(alone(["claude", "--session-id", ID, "--model", "opus", "hello"])).toEqual(
      run(["claude", "--session-id", ID, "--model", "opus"]),
    );
  });

  test("inside a shell: by its arguments, or by the only conversation written to since it started", () => {
    expect(typedFor(["claude", "-r", ID], { sessions: sessions([ID]) })).toBe(`claude --resume ${ID}\r`);
    expect(typedFor(["node", "/usr/bin/claude", "-c"], { sessions: sessions([ID, OTHER], [ID]) })).toBe(
      `node /usr/bin/claude --resume ${ID}\r`,
    );
    expect(typedFor(["claude"], { sessions: sessions([ID, OTHER], [ID, OTHER]) })).toBe("claude");
    expect(typedFor(["claude"], { sessions: sessions([ID]) })).toBe("claude");
  });

  test.each([
    ["prints and exits", ["claude", "-p", "--session-id", ID, "do it"]],
    ["is a subcommand", ["claude", "mcp", "list"]],
    ["has an unknown option, followed by a word", ["claude", "--session-id", ID, "--new-thing", "what"]],
    ["is a fork, whose conversation has another id", ["claude", "--resume", ID, "--fork-session"]],
    ["names something that is not an id", ["claude", "--resume", "my session"]],
  ])("is only typed, not run, if it %s", (_, argv) => {
    const found = alone(argv, { sessions: sessions([ID]) });
    expect(found).toMatchObject({ argv: ["/bin/bash"], typed: expect.stringMatching(/^claude .*[^\r]$/) });
  });

  test("gets an id when it is opened, so that it can be found again; one with its own choice is unchanged", () => {
    expect(withSession(["claude", "--model", "opus", "hi"], ID)).toEqual([
      ...["claude", "--session-id", ID],
      ...["--model", "opus", "hi"],
    ]);
    for (const words of [["-c"], ["--resume"], [`--session-id=${OTHER}`], ["mcp", "list"], ["--version"]]) {
      expect(withSession(["claude", ...words], ID)).toEqual(["claude", ...words]);
    }
    expect(withSession(["codex"], ID)).toEqual(["codex"]);
    expect(withSession([], ID)).toEqual([]);
  });
});

describe("the other agents", () => {
  test("codex resumes by the id in its arguments, or by the only one it can have written", () => {
    expect(alone(["codex", "--yolo", "resume", ID, "-m", "o9"])).toEqual(
      run(["codex", "resume", ID, "--yolo", "-m", "o9"]),
    );
    expect(alone(["codex", "-s", "read-only", "fix it"], { sessions: sessions([ID], [ID]) })).toEqual(
      run(["codex", "resume", ID, "-s", "read-only"]),
    );
    expect(alone(["codex", "resume", "--last"], { sessions: sessions([ID, OTHER], [OTHER]) })).toEqual(
      run(["codex", "resume", OTHER]),
    );
    expect(alone(["codex", "exec", "fix it"], { sessions: sessions([ID], [ID]) })).toEqual(
      ready("codex exec 'fix it'"),
    );
    expect(alone(["codex"])).toEqual(ready("codex"));
  });

  test("gemini and opencode", () => {
    expect(alone(["gemini", "--approval-mode", "yolo", "-i", "hi"], { sessions: sessions([ID], [ID]) })).toEqual(
      run(["gemini", "--resume", ID, "--approval-mode", "yolo"]),
    );
    expect(alone(["gemini", "-r", "latest"])).toEqual(ready("gemini -r latest"));
    expect(alone(["gemini", "-p", "hi"], { sessions: sessions([ID], [ID]) })).toEqual(ready("gemini -p hi"));
    expect(alone(["opencode", "/w/app", "-s", "ses_0123456789", "--agent", "build"])).toEqual(
      run(["opencode", "--session", "ses_0123456789", "--agent", "build", "/w/app"]),
    );
    expect(alone(["opencode", "-c"])).toEqual(ready("opencode -c"));
    expect(alone(["opencode", "run", "hi", "-s", "ses_0123456789"])).toMatchObject({ argv: ["/bin/bash"] });
  });
});

describe("RC3 where a program came from", () => {
  const typed = (argv: readonly string[], origin: object, rules: readonly RestoreRule[] = []) => {
    const evidence = { workingDirectory: "/w", foreground: { argv, cwd: "/w", startedAt: AT, ...origin } };
    return typedFor(argv, { evidence, rules });
  };
  const rules = [{ match: "make *", run: "{command}" }];

  test("only the program that its PATH finds, and that ran where we run, is run again; a rule needs only the latter", () => {
    expect(typed(["vim", "a"], {})).toBe("vim a\r");
    expect(typed(["vim", "a"], { notOnPath: true })).toBe("vim a");
    expect(typed(["vim", "a"], { elsewhere: true })).toBe("vim a");
    expect(typed(["make", "x"], { notOnPath: true }, rules)).toBe("make x\r");
    expect(typed(["make", "x"], { elsewhere: true }, rules)).toBe("make x");
  });

  test("what a process says of itself is compared with what it runs", () => {
    const process = (executable: string, files: Readonly<Record<string, string>>) => ({
      ...{ elsewhere: false, executable, find: (name: string) => files[name], real: (path: string) => files[path] },
    });
    const system = { vim: "/usr/bin/vim.basic", "/usr/bin/vim": "/usr/bin/vim.basic", "./vim": "/w/vim" };
    const vim = (file: string, executable: string) => originOf([file, "a"], process(executable, system));
    expect(vim("vim", "/usr/bin/vim.basic")).toEqual({});
    expect(vim("/usr/bin/vim", "/usr/bin/vim.basic")).toEqual({});
    expect(vim("vim", "/usr/bin/python3")).toEqual({ notOnPath: true });
    expect(vim("vim", "/w/vim")).toEqual({ notOnPath: true });
    expect(vim("./vim", "/w/vim")).toEqual({ notOnPath: true });
    expect(originOf(["vim"], process("/opt/vim", {}))).toEqual({ notOnPath: true });
    expect(originOf(["make"], process("/opt/make", {}))).toEqual({});
    expect(originOf(["vim"], undefined)).toEqual({ elsewhere: true });
    expect(originOf(["vim"], { ...process("/usr/bin/vim.basic", system), elsewhere: true })).toEqual({
      elsewhere: true,
    });
  });

  test("a coding agent that updated itself is still the same, and a script is found by its own name", () => {
    const files = {
      claude: "/h/claude/versions/2",
      gemini: "/lib/gemini/gemini.js",
      "/bin/gemini": "/lib/gemini/gemini.js",
    };
    const facts = (executable: string) => ({
      ...{ elsewhere: false, executable, find: (name: string) => Object(files)[name] },
      real: (path: string) => Object(files)[path] ?? path,
    });
    expect(originOf(["claude"], facts("/h/claude/versions/1"))).toEqual({});
    expect(originOf(["claude"], facts("/w/claude"))).toEqual({ notOnPath: true });
    expect(originOf(["node", "/bin/gemini"], facts("/usr/bin/node"))).toEqual({});
    expect(originOf(["node", "/w/gemini.js"], facts("/usr/bin/node"))).toEqual({ notOnPath: true });
  });
});

describe("editors, logins and followed files", () => {
  test.each([
    [["nvim", "-O", "a b.txt", "+12", "c"]],
    [["/usr/bin/vim"]],
    [["ssh", "-vA", "-p", "22", "-J", "gate", "me@host"]],
    [["ssh", "-N", "-L", "80:localhost:80", "host"]],
    [["ssh", "-i", "key", "-S", "none", "host"]],
    [["tail", "-f", "log"]],
    [["tail", "-n", "100", "-F", "a", "b"]],
    [["tail", "-100f", "log"]],
    [["tail", "--follow=name", "log"]],
  ])("%j is run again as it was", (argv) => {
    expect(alone(argv)).toEqual(run(argv));
  });

  test.each([
    [["vim", "-S", "Session.vim"]],
    [["vim", "-u", "evil.vim", "a"]],
    [["vim", "-uevil.vim", "a"]],
    [["vim", "-U", "evil.vim", "a"]],
    [["ssh", "-F", "config", "host"]],
    [["ssh", "-Fconfig", "host"]],
    [["ssh", "-o", "ServerAliveInterval=5", "host"]],
    [["ssh", "-oProxyCommand=./evil", "host"]],
    [["ssh", "-vo", "ProxyCommand=./evil", "host"]],
    [["ssh", "-I", "./evil.so", "host"]],
    [["ssh", "-E", ".bashrc", "host"]],
    [["vim", "+PlugInstall", "+qall"]],
    [["vim", "-c", "wq", "a"]],
    [["vim", "-"]],
    [["vim", "-s", "script", "a"]],
    [["ssh", "host", "./deploy"]],
    [["ssh", "-f", "host"]],
    [["ssh", "-t", "-o", "RemoteCommand=./deploy", "host"]],
    [["ssh", "-o", "remotecommand ./deploy", "host"]],
    [["ssh", "-oRemoteCommand=./deploy", "host"]],
    [["ssh", "-o", "PermitLocalCommand=yes", "-o", "LocalCommand=./notify", "host"]],
    [["ssh"]],
    [["tail", "log"]],
    [["tail", "-f"]],
    [["tail", "-f", "-"]],
    [["make", "deploy"]],
    [["constructor"]],
    [["python3"]],
  ])("%j is only typed, not run", (argv) => {
    expect(alone(argv)).toMatchObject({ argv: ["/bin/bash"], typed: expect.not.stringContaining("\r") });
  });
});

describe("the user's own patterns", () => {
  const rules: RestoreRule[] = [
    { match: "npm run dev*", run: "{command}" },
    { match: "claude *", run: "my-claude --again" },
    { match: "bad", run: "a\nb" },
  ];

  test("come first, are lines for a shell, and match the whole command line", () => {
    expect(alone(["npm", "run", "dev", "--", "a b"], { rules })).toEqual({
      argv: ["/bin/bash"],
      typed: "npm run dev -- 'a b'\r",
    });
    expect(typedFor(["claude", "-r", ID], { rules, sessions: sessions([ID]) })).toBe("my-claude --again\r");
    expect(alone(["xnpm", "run", "dev"], { rules })).toEqual(ready("xnpm run dev"));
    expect(alone(["bad"], { rules })).toEqual(ready("bad"));
  });
});

describe("shells", () => {
  test("come back in their last directory, with their foreground program typed", () => {
    const evidence = { workingDirectory: "/w/sub", foreground: null };
    expect(planRestore(terminal(["zsh", "-l"]), facts({ evidence, directory: "/w/sub" }))).toEqual({
      kind: "start",
      argv: ["zsh", "-l"],
      cwd: "/w/sub",
      typed: "",
      notes: ["its shell"],
    });
    expect(aimOf(terminal(["bash"]), inFront(["make"], "/w/sub"))).toMatchObject({ cwd: "/w/sub", since: AT });
    expect(typedFor(["make", "-j8", "it's; rm $HOME"])).toBe("make -j8 'it'\\''s; rm $HOME'");
  });

  test("come back without any evidence", () => {
    expect(planRestore(terminal(["bash"]), facts())).toMatchObject({ argv: ["bash"], cwd: "/w", typed: "" });
  });

  describe("a restoration that was not accepted does not replace the known state", () => {
    const start = { argv: ["/bin/bash"], cwd: "/", typed: "", message: "", reason: "", notes: [] };
    const restored: Restored = { ...start, offset: 0, screenAgeMs: null, evidence: null, at: AT, accepted: false };
    const again = (argv: readonly string[], last: Partial<Restored>, changes: Partial<RestoreFacts> = {}) => {
      const lost = terminal(argv, { restored: { ...restored, ...last } });
      return planRestore(lost, facts({ evidence: evidenceFor(lost, inFront(["top"], "/")), ...changes }));
    };

    test("typed again in its own directory, though the last start was in the wrong one", () => {
      expect(again(["make", "deploy"], {})).toMatchObject({ argv: ["/bin/bash"], cwd: "/w", typed: "make deploy" });
      const evidence = inFront(["make"], "/w");
      expect(again(["bash"], { evidence })).toMatchObject({ argv: ["bash"], cwd: "/w", typed: "make" });
    });

    test("a program that continued by itself does so in the same way if nothing better is known", () => {
      const ran = { cwd: "/w", evidence: inFront(["claude"]), typed: `claude --resume ${ID}\r` };
      expect(again(["bash"], ran)).toMatchObject({ argv: ["/bin/bash"], typed: ran.typed });
      expect(again(["bash"], { ...ran, cwd: "/x" })).toMatchObject({ argv: ["bash"], typed: "claude" });
      expect(again(["bash"], ran, { sessions: sessions([OTHER], [OTHER]) })).toMatchObject({
        typed: `claude --resume ${OTHER}\r`,
      });
    });

    test("once accepted, its program, directory and last checkpoint count", () => {
      const accepted = again(["make"], { accepted: true }, { directory: "/" });
      expect(accepted).toMatchObject({ argv: ["/bin/bash"], cwd: "/", typed: "top" });
    });
  });

  test("after a rollback the plan uses what was known before; a later checkpoint is ignored", () => {
    const evidence = inFront(["vim"]);
    const state = { kind: "uncertain", reason: "", child: undefined, evidence, rolledBack: true } as const;
    expect(evidenceFor(terminal(["bash"], { state }), inFront(["top"]))).toBe(evidence);
    const bare = { kind: "uncertain", reason: "", child: undefined, rolledBack: true } as const;
    expect(evidenceFor(terminal(["bash"], { state: bare }), inFront(["top"]))).toBeUndefined();
    expect(evidenceFor(terminal(["bash"]), evidence)).toBe(evidence);
  });
});

describe("what is typed", () => {
  test.each(["a\rb", "a\nb", "\u001b[A", "a\u0000", "\u0085", "\u2028", "x".repeat(5000), "\ud800"])(
    "%j is never typed",
    (word) => {
      expect(typedFor(["echo", word])).toBe("");
      expect(alone(["tail", "-f", word])).toEqual(run(["tail", "-f", word])); // When executed, it is only a name.
      expect(typedFor(["tail", "-f", word])).toBe("");
    },
  );

  test("TC-6(f) doubtful information is not used, and the terminal says so", () => {
    const plan = planRestore(terminal(["sh"]), facts({ doubt: "the checkpoint is 30 h old" }));
    expect(plan.kind === "start" && plan.notes).toEqual([
      "its shell",
      "not as it was last seen: the checkpoint is 30 h old",
    ]);
  });

  test("notes and the line on the screen contain nothing that moves a cursor", () => {
    const plan = planRestore(terminal(["echo", "\u001b[2J\u202e"]), facts());
    expect(plan.kind === "start" && plan.notes.join()).toBe(
      "its shell; its command cannot be typed: echo \ufffd[2J\ufffd",
    );
    expect(messageOf({ reason: "why\u001b", when: "2026-01-01 00:10:00 UTC" }, ["a\rb"])).toBe(
      "holdfast: why\ufffd; started again 2026-01-01 00:10:00 UTC; a\ufffdb",
    );
  });

  test("is written for the shell that reads it", () => {
    const typed = (shell: string) => {
      const plan = planRestore(terminal(["echo", "it's \\ !"]), facts({ shell }));
      return plan.kind === "start" ? plan.typed : "";
    };
    expect(typed("/bin/zsh")).toBe("echo 'it'\\''s \\ !'");
    expect(typed("/usr/bin/fish")).toBe("echo 'it\\'s \\\\ !'");
    expect(typed("/bin/tcsh")).toBe("echo 'it'\\''s \\ \\!'");
    expect(typedFor(["A=b", "=x", "%1", "-y", "~"])).toBe("'A=b' '=x' '%1' -y '~'");
  });
});

describe("whether", () => {
  test("it waits for a person by its policy, or when lost repeatedly; a person's request overrides both", () => {
    expect(planRestore(terminal(["sh"], { policy: "ask" }), facts())).toEqual({
      kind: "ask",
      why: "its policy is ask",
    });
    expect(planRestore(terminal(["sh"], { policy: "never" }), facts())).toMatchObject({ kind: "never" });
    const often = { restorations: ["00:09:30", "00:09:40", "00:09:50"].map((at) => `2026-01-01T${at}.000Z`) };
    expect(planRestore(terminal(["sh"], often), facts())).toMatchObject({ kind: "ask" });
    expect(planRestore(terminal(["sh"], often), facts({ at: "2026-01-01T00:11:00.000Z" })).kind).toBe("start");
    for (const changes of [{ policy: "ask" }, { policy: "never" }, often] as const) {
      expect(planRestore(terminal(["sh"], changes), facts({ asked: true })).kind).toBe("start");
    }
  });

  test("a command whose directory is gone is not run elsewhere, and the notes say where it is now", () => {
    const plan = planRestore(terminal(["tail", "-f", "log"]), facts({ directory: "/" }));
    expect(plan).toMatchObject({ argv: ["/bin/bash"], cwd: "/", typed: "tail -f log" });
    expect(plan.kind === "start" && plan.notes).toContain("/w is gone: started in /");
  });

  test("variables that are not stored are named", () => {
    const plan = planRestore(terminal(["sh"], { unset: ["A_KEY", "B_TOKEN"] }), facts());
    expect(plan.kind === "start" && plan.notes).toContain("not stored, and so unset: A_KEY, B_TOKEN");
  });

  test("a person may choose just the shell, or to run the recipe again", () => {
    const asked = { asked: true, evidence: inFront(["vim"]) };
    expect(planRestore(terminal(["make"]), facts({ ...asked, way: "shell" }))).toMatchObject({
      argv: ["/bin/bash"],
      typed: "",
    });
    expect(planRestore(terminal(["make", "all"]), facts({ ...asked, way: "recipe" }))).toMatchObject({
      argv: ["make", "all"],
      typed: "",
    });
  });
});
