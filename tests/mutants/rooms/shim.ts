// The mutants in src/shim (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const SHIM: readonly Mutant[] = [
  {
    mutant: "each attempt of a call has its own id",
    file: "src/shim/shim.ts",
    from: 'client.call("agent.call", asked))',
    to: `client.call("agent.call", { ...asked, call: \`\${asked.call}.\${this.#ports.chance()}\` }))`,
    killedBy: {
      file: "tests/agent/shim.test.ts",
      test: "a call whose daemon dies before it answers is repeated under its own id, and acknowledged once it was answered",
    },
  },
  {
    mutant: "a daemon that is gone is an answer to the agent",
    file: "src/shim/shim.ts",
    from: 'const NO_ANSWER = ["daemon.gone", "daemon.silent"',
    to: 'const NO_ANSWER = ["daemon.silent"',
    killedBy: {
      file: "tests/agent/shim.test.ts",
      test: "a call whose daemon dies before it answers is repeated under its own id, and acknowledged once it was answered",
    },
  },
  {
    mutant: "a call counts as taken before the agent's pipe has accepted the answer",
    file: "src/shim/shim.ts",
    from: `    await this.#ports.write(\`\${answer}\\n\`);
    // SH2
    if (call !== undefined) await this.#asking((client) => client.call("agent.call-taken", { call: call ?? "" }));`,
    to: `    if (call !== undefined) await this.#asking((client) => client.call("agent.call-taken", { call: call ?? "" }));
    await this.#ports.write(\`\${answer}\\n\`);`,
    killedBy: {
      file: "src/shim/shim.test.ts",
      test: "SH2 an answer counts as taken only after the agent's pipe has accepted it",
    },
  },
  {
    mutant: "a restored home's token is not read again",
    file: "src/shim/shim.ts",
    from: "    this.#ports = ports;",
    to: `    const token = ports.token();
    this.#ports = { ...ports, token: () => token };`,
    killedBy: {
      file: "src/shim/shim.test.ts",
      test: "SH1 after a daemon has gone, the same call goes to the next one over a new connection, with the present token",
    },
  },
];
