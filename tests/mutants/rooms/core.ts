// The mutants in src/core (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const CORE: readonly Mutant[] = [
  {
    mutant: "a password in the value of a variable is stored",
    file: "src/core/environment.ts",
    from: "SECRET_VALUES.test(value) || isProxyWithUser(name, value)",
    to: "isProxyWithUser(name, value)",
    killedBy: {
      file: "src/core/environment.test.ts",
      test: "values > an address with a password and a private key are left out, whatever their name",
    },
    isSentinel: true,
  },
  {
    mutant: "the operator's allow wins over their deny",
    file: "src/core/environment.ts",
    from: "    if (denied(name)) return false; // V2\n",
    to: "",
    killedBy: {
      file: "src/core/environment.test.ts",
      test: "names > the operator's deny wins over their allow, and either over the defaults",
    },
  },
  {
    mutant: "a stranger with a reused pid is stopped as an orphan",
    file: "src/core/orphans.ts",
    from: '    if (now !== undefined && now.startTime !== leader.startTime) return { kind: "unknown" }; // Z2\n',
    to: "",
    killedBy: {
      file: "src/core/orphans.test.ts",
      test: "never named > a stranger with the pid of a holder, a shell or a session of ours",
    },
    isSentinel: true,
  },
  {
    mutant: "a record from before a reboot proves that a process is ours",
    file: "src/core/orphans.ts",
    from: "leader === undefined || leader.bootId !== this.#table.bootId",
    to: "leader === undefined",
    killedBy: {
      file: "src/core/orphans.test.ts",
      test: "never named > any process after a reboot, however well the numbers match",
    },
  },
  {
    mutant: "a permission rule that cannot be read denies nothing",
    file: "src/core/agent/rules.ts",
    from: `    return { decision: "deny", rule: rule_id, message: \`Rule \${rule_id} cannot be read: \${broken}\` }; // P2`,
    to: "    return undefined;",
    killedBy: {
      file: "src/core/agent/rules.test.ts",
      test: "PR-1(b) a broken rule denies what it might be about, and nothing else",
    },
  },
  {
    mutant: "a star in an allow rule matches a second command",
    file: "src/core/agent/rules.ts",
    from: 'decision === "allow" ? "narrow" : "wide"; // P3',
    to: '"wide" as Width;',
    killedBy: {
      file: "src/core/agent/rules.test.ts",
      test: "PR-1(b) a star in an allow rule matches one command; in a deny rule it matches everything",
    },
  },
  {
    mutant: "a star in an allow rule matches an option",
    file: "src/core/agent/pattern.ts",
    from: 'if (character === "-") return previous === "" || WORD_BREAKS.has(previous);',
    to: 'if (character === "-") return false;',
    killedBy: {
      file: "src/core/agent/rules.test.ts",
      test: "J1 a star in an allow rule matches no option, nor what a shell turns into one",
    },
  },
  {
    mutant: "a child may do what its parent is denied",
    file: "src/core/agent/prompts.ts",
    from: 'if (verdict?.decision === "deny") return verdict;',
    to: "void verdict;",
    killedBy: {
      file: "tests/agent/prompts.test.ts",
      test: "H5 what an agent is denied is denied all below it, whatever they were allowed; what it is allowed is its own",
    },
  },
  {
    mutant: "a step that was seen running is run again if its claim is gone",
    file: "src/core/workflow/resume.ts",
    from: '  return state.kind === "starting" ? "run" : policy();',
    to: '  return "run";',
    killedBy: {
      file: "tests/workflow/attempts.test.ts",
      test: "an attempt whose files are removed while it is recorded as running is lost, and not run again",
    },
  },
  {
    mutant: "a step that is lost again and again is rerun for ever",
    file: "src/core/workflow/resume.ts",
    from: 'policy === "rerun" && before + 1 >= MAX_LOST ? "ask" : policy',
    to: "policy",
    killedBy: {
      file: "tests/workflow/decide.test.ts",
      test: "W3 a file may decide in advance; a step that is lost too often is asked about anyway",
    },
  },
  {
    mutant: "a terminal that is starting can be removed",
    file: "src/core/terminal/decide.ts",
    from: 'if (terminal.state.kind === "running" || terminal.state.kind === "starting") {',
    to: 'if (terminal.state.kind === "running") {',
    killedBy: {
      file: "src/core/terminal/terminal.test.ts",
      test: "every command in every state > remove",
    },
  },
  {
    mutant: "a recovery may skip RESTORING",
    file: "src/core/recovery.ts",
    from: 'INVENTORYING: { RESTORING: "RESTORING", INVENTORY_FAILED',
    to: 'INVENTORYING: { RESTORING: "RESTORING", RECONCILING: "RECONCILING", INVENTORY_FAILED',
    killedBy: {
      file: "src/core/recovery.test.ts",
      test: "the stages of a recovery > RS-1(c) no path skips a stage: without one of them LIVE cannot be reached",
    },
  },
  {
    mutant: "a complete run is replaced by another migration",
    file: "src/core/workflow/decide-migrate.ts",
    from: "  if (!isHalf(run)) return ok([]); // DM3\n",
    to: "",
    killedBy: {
      file: "tests/workflow/migrate.test.ts",
      test: "UC-10(a) a job of ten thousand items is imported in parts; before the last the run can do nothing, and a repeat changes nothing",
    },
  },
  {
    mutant: "a run is set back to steps that were undone",
    file: "src/core/workflow/rollback.ts",
    from: "  if (!isPastOf(run, checkpoint)) return UNDONE; // RB1\n",
    to: "",
    killedBy: {
      file: "tests/workflow/versions.test.ts",
      test: "RB1 a checkpoint of steps that were themselves undone is not part of the run's past",
    },
  },
  {
    mutant: "an agent gets the keys of all providers",
    file: "src/core/agent/provider-access.ts",
    from: "names.filter((name) => !ALL_KEYS.includes(name))",
    to: 'names.filter((name) => ALL_KEYS.length > 0 || name !== "")',
    killedBy: {
      file: "src/core/agent/provider-access.test.ts",
      test: "PA1 an agent gets the keys of its own provider, and none of another",
    },
  },
  {
    mutant: "an agent continues in the conversation of another",
    file: "src/core/terminal/restore.ts",
    from: "session !== undefined && name === agentOf(aim)",
    to: "session !== undefined",
    killedBy: {
      file: "src/core/terminal/restore-agents.test.ts",
      test: "a conversation belongs to the agent that was seen in it",
    },
  },
];
