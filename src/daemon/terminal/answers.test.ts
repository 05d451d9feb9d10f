import { expect, test } from "bun:test";
import { HolderClient } from "../../wire/holder/client.ts";
import type { HolderAnswer, HolderQuestion, HolderStatus } from "../../wire/holder/protocol.ts";
import { TerminalAnswers } from "./answers.ts";

const STATUS: HolderStatus = {
  ...{ v: 1, generation: 7, mode: "pty", pid: 1, child: null, startedAt: "", tape: { start: 0, end: 0, gaps: 0 } },
  ...{ consumed: 0, size: { cols: 80, rows: 24 }, clients: 1, lastOutputAt: null, writers: {}, exit: null },
  trouble: null,
};

class Listener extends HolderClient {
  readonly answers: HolderAnswer[] = [];

  constructor() {
    super(() => Promise.reject(new Error("it is not connected")), { token: "t", writer: "daemon" });
  }

  override answer(answer: HolderAnswer): void {
    this.answers.push(answer);
  }
}

test("TA1 TA2 touches while a terminal is looked at cause one more look, and an answer names question and generation", async () => {
  const client = new Listener();
  const asking: HolderQuestion[] = [1, 2].map((n) => ({ n, offset: n, query: `${n}?` }));
  let looks = 0;
  const connections = {
    status: async () => {
      looks += 1;
      return { ...STATUS, asking: looks === 1 ? asking : [] };
    },
    get: () => ({ client, welcomed: () => undefined, close: () => undefined }),
  };
  const answers = new TerminalAnswers(connections, async (_, { n, query }) => (n === 1 ? `${query}!` : undefined));
  await Promise.all([answers.look("t"), answers.look("t"), answers.look("t")]);
  expect([looks, client.answers]).toEqual([2, [{ generation: 7, n: 1, answer: "1?!" }]]);
});
