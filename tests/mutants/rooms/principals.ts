// The mutants of who may answer, and of what an agent and those below it may do (../mutant.ts): the code of several
// rooms.
import type { Mutant } from "../mutant.ts";

export const PRINCIPALS: readonly Mutant[] = [
  {
    mutant: "a process below an agent is the operator's",
    file: "src/core/principal.ts",
    from: 'return { principal: "agent", agent: role.agent }; // PR2',
    to: "return OPERATOR;",
    killedBy: {
      file: "src/core/principal.test.ts",
      test: "PR2 a process below an agent's holder is the agent's, however deep",
    },
  },
  {
    mutant: "a terminal that was opened below an agent is the agent's",
    file: "src/core/principal.ts",
    from: 'return role.kind === "ours" || role.kind === "terminal" ? OPERATOR : undefined; // PR3',
    to: 'return role.kind === "terminal" ? OPERATOR : undefined;',
    killedBy: {
      file: "src/core/principal.test.ts",
      test: "PR3 what is above the nearest of our own programs does not count",
    },
  },
  {
    mutant: "a process that is gone is the operator's",
    file: "src/core/principal.ts",
    from: "if (here === undefined) return UNKNOWN; // PR4",
    to: "if (here === undefined) return OPERATOR;",
    killedBy: {
      file: "src/core/principal.test.ts",
      test: "PR4 a process that is gone is unknown, and unknown ones may only look",
    },
  },
  {
    mutant: "a pid that was reused is taken for the parent",
    file: "src/core/principal.ts",
    from: "    if (parent.startTime > here.startTime) return undefined; // PR5\n",
    to: "",
    killedBy: {
      file: "src/core/principal.test.ts",
      test: "PR5 a parent that seems younger than its child is another process: the walk begins again",
    },
  },
  {
    mutant: "a process whose parent ends during the look is the operator's",
    file: "src/core/principal.ts",
    from: "return isStill(here, look) ? OPERATOR : undefined;",
    to: "return isStill === undefined ? undefined : OPERATOR;",
    killedBy: { file: "src/core/principal.test.ts", test: "PR5 a parent that ends while we look is looked for again" },
  },
  {
    mutant: "a process that hides below hundreds of others is the operator's",
    file: "src/core/principal.ts",
    from: "    here = parent;\n  }\n  return UNKNOWN;",
    to: "    here = parent;\n  }\n  return OPERATOR;",
    killedBy: { file: "src/core/principal.test.ts", test: "a chain deeper than anyone nests is unknown" },
  },
  {
    mutant: "a process that nobody knows may act",
    file: "src/core/principal.ts",
    from: '  return principal === "operator";',
    to: '  return principal !== "agent";',
    killedBy: {
      file: "src/core/principal.test.ts",
      test: "PR4 a process that is gone is unknown, and unknown ones may only look",
    },
  },
  {
    mutant: "everyone may add rules",
    file: "src/core/principal.ts",
    from: '  "rule.add": "act",',
    to: '  "rule.add": "look",',
    killedBy: { file: "src/core/principal.test.ts", test: "only reading methods may be asked by everyone" },
  },
  {
    mutant: "whatever says that it is the holder of a terminal is believed",
    file: "src/home/callers.ts",
    from: "    )\n      ? TERMINAL\n      : undefined;",
    to: "    )\n      ? TERMINAL\n      : TERMINAL;",
    killedBy: {
      file: "tests/daemon/callers.test.ts",
      test: "CA1 a terminal's holder, the daemon and the watchdog end the walk, wherever they were started",
    },
  },
  {
    mutant: "an agent whose holder has died is the operator",
    file: "src/home/callers.ts",
    from: "this.#heldBy(kin) ?? this.#marked(kin) ?? cliIn(kin) ?? OTHER",
    to: "this.#heldBy(kin) ?? cliIn(kin) ?? OTHER",
    killedBy: {
      file: "tests/daemon/callers.test.ts",
      test: "CA2 a marker of an agent of this home counts; one of another home, a terminal or an attempt does not",
    },
  },
  {
    mutant: "a client that is gone is the operator",
    file: "src/home/callers.ts",
    from: 'peer === "gone" ? { ...UNTOLD, principal: "unknown" } : this.#caller(peer)',
    to: 'peer === "gone" ? UNTOLD : this.#caller(peer)',
    killedBy: {
      file: "tests/daemon/callers.test.ts",
      test: "a client that is gone is unknown, and one that the system does not name is the operator",
    },
  },
  {
    mutant: "nobody hears of what an agent tried",
    file: "src/home/callers.ts",
    from: '    if (caller.principal === "agent") noteAttempt(',
    to: '    if (caller.principal === "operator") noteAttempt(',
    killedBy: {
      file: "tests/daemon/callers.test.ts",
      test: "an agent's attempt is recorded; AT1 the record is bounded, and unreadable lines are left out",
    },
  },
  {
    mutant: "an agent with this home's token may ask for everything that has no row",
    file: "src/daemon/rpc-server.ts",
    from: 'right === "look"',
    to: 'right !== "act"',
    killedBy: {
      file: "tests/daemon/rpc-principals.test.ts",
      test: "Z5 an agent with this home's token may look; the rest is refused and recorded, known or not",
    },
  },
  {
    mutant: "a holder takes every client for its daemon",
    file: "src/holder/holder.ts",
    from: "!this.#callers.hasAgents || this.#callers.isParent(connection)",
    to: "!this.#callers.hasAgents || this.#callers.isParent !== undefined",
    killedBy: {
      file: "tests/holder/acts.test.ts",
      test: "C3, O5 a process of an agent neither types into a program, nor ends it or its input, with the holder's token",
    },
  },
  {
    mutant: "a process of an agent may type",
    file: "src/holder/holder.ts",
    from: '    if (client.whyNot !== null) return { kind: "refused", refusal: { ...client.whyNot, number } } as const;\n',
    to: "",
    killedBy: {
      file: "tests/holder/acts.test.ts",
      test: "C3, O5 a process of an agent neither types into a program, nor ends it or its input, with the holder's token",
    },
  },
  {
    mutant: "a process of an agent may send signals",
    file: "src/holder/client.ts",
    from: "if (this.#mayAct() && !this.#host.signal(name))",
    to: "if (!this.#host.signal(name))",
    killedBy: {
      file: "tests/holder/acts.test.ts",
      test: "C3, O5 a process of an agent neither types into a program, nor ends it or its input, with the holder's token",
    },
  },
  {
    mutant: "a process of an agent may end the input of a program",
    file: "src/holder/client.ts",
    from: "tag === protocol.END_INPUT && this.#mayAct()",
    to: "tag === protocol.END_INPUT",
    killedBy: {
      file: "tests/holder/acts.test.ts",
      test: "C3, O5 a process of an agent neither types into a program, nor ends it or its input, with the holder's token",
    },
  },
  {
    mutant: "what a parent is allowed is allowed all below it",
    file: "src/core/agent/prompts.ts",
    from: 'if (verdict?.decision === "deny") return verdict;',
    to: "if (verdict !== undefined) return verdict;",
    killedBy: {
      file: "tests/agent/prompts.test.ts",
      test: "H5 what an agent is denied is denied all below it, whatever they were allowed; what it is allowed is its own",
    },
  },
  {
    mutant: "only what its parent is denied is denied an agent",
    file: "src/core/agent/draft.ts",
    from: 'at?.kind === "agent" && depth < MAX_DEPTH',
    to: 'at?.kind === "agent" && depth < Math.min(1, MAX_DEPTH)',
    killedBy: {
      file: "tests/agent/prompts.test.ts",
      test: "H5 what an agent is denied is denied all below it, whatever they were allowed; what it is allowed is its own",
    },
  },
  {
    mutant: "a rule of `--always` allows more arguments than were seen",
    file: "src/core/agent/rules.ts",
    from: "return { tool: exactly(tool), args, input: canonical(input) };",
    to: "return { tool: exactly(tool), args };",
    killedBy: {
      file: "tests/agent/prompts.test.ts",
      test: "H6 --always pins every argument, and is refused if it cannot",
    },
  },
  {
    mutant: "a rule of `--always` is about every tool that its tool's name matches",
    file: "src/core/agent/rules.ts",
    from: "return { tool: exactly(tool), args, input",
    to: "return { tool, args, input",
    killedBy: {
      file: "tests/agent/prompts.test.ts",
      test: "H6 --always pins every argument, and is refused if it cannot",
    },
  },
  {
    mutant: "`--always` makes a rule of an input that it cannot pin",
    file: "src/core/agent/prompts.ts",
    from: 'if (!isRecord(input) || tool === "" || sizeOf(input) > MAX_PINNED) return undefined;',
    to: "if (!isRecord(input) || sizeOf(input) > MAX_PINNED) return undefined;",
    killedBy: {
      file: "tests/agent/prompts.test.ts",
      test: "H6 --always pins every argument, and is refused if it cannot",
    },
  },
  {
    mutant: "a chain of agents reaches providers that its first one does not list",
    file: "src/core/agent/spawn.ts",
    from: "whyNotOn([parent, ...draft.above(parent)], provider, spawns)",
    to: "whyNotOn([parent], provider, spawns)",
    killedBy: {
      file: "tests/agent/tools.test.ts",
      test: "IN1 an agent starts others on its own provider and on those that its provider and its ancestors' list",
    },
  },
  {
    mutant: "an agent starts others on every provider if its own lists any",
    file: "src/core/agent/inherit.ts",
    from: "own(spawns, provider)?.includes(wanted)",
    to: "own(spawns, provider) !== undefined",
    killedBy: {
      file: "tests/agent/tools.test.ts",
      test: "IN1 an agent starts others on its own provider and on those that its provider and its ancestors' list",
    },
  },
  {
    mutant: "a child on another provider asks less than its parent",
    file: "src/core/agent/spawn.ts",
    from: "return ok(lowered(found, recipe));",
    to: "return lowered === undefined ? ok(recipe) : ok(found);",
    killedBy: {
      file: "tests/agent/tools.test.ts",
      test: "IN2 a child has no higher permission mode than its parent: it is lowered, or refused if a person wants it",
    },
  },
  {
    mutant: "what an agent CLI in a terminal starts is the operator's",
    file: "src/core/principal.ts",
    from: '  if (role.kind === "terminal" && cli !== undefined) return { principal: "agent", cli }; // PR2\n',
    to: "",
    killedBy: {
      file: "src/core/principal.test.ts",
      test: "PR2 PR3 a process below an agent CLI is an agent's in a terminal of this home, and nowhere else",
    },
  },
];
