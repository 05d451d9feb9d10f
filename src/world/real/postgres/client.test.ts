// The client against servers that do not keep to the protocol: whatever they send, at most this connection ends.
import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { PostgresConnection, PostgresTarget } from "../../postgres.ts";
import { realPostgres } from "./client.ts";
import { frame, int16 } from "./frames.ts";

const TIMEOUT_MS = 20_000;
const [S, N] = [Buffer.from("S"), Buffer.from("N")];
const NUL = new Uint8Array(1);
const LET_IN = [frame("R", 0), frame("K", 7, 8), frame("Z", Buffer.from("I"))];
const PREPARED = [frame("1"), frame("t", int16(0)), frame("n"), frame("Z", Buffer.from("I"))];
const READY = frame("Z", Buffer.from("I"));
const STATEMENT = { name: "s", text: "select" };

type Scripted = { stop(closeAll: boolean): void };
const servers: Scripted[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true);
});

/** Answers the first message with the first of `answers`, and so on; `null`: closes. */
function serverWith(answers: readonly (Uint8Array | null)[]): number {
  const server = Bun.listen<{ at: number }>({
    ...{ hostname: "127.0.0.1", port: 0 },
    socket: {
      open: (socket) => {
        socket.data = { at: 0 };
      },
      data: (socket) => {
        const answer = answers[socket.data.at++];
        if (answer === null) socket.end();
        else if (answer !== undefined) socket.write(answer);
      },
      error: () => undefined, // `close` follows.
    },
  });
  servers.push(server);
  return server.port;
}

function connectTo(port: number, tls: "disable" | "require" = "disable", connectTimeoutMs = TIMEOUT_MS) {
  const host = { kind: "tcp", host: "127.0.0.1", port, tls, password: "secret" } as const;
  const target: PostgresTarget = {
    ...{ hosts: [host], user: "u", database: "d", authority: undefined, channelBinding: "prefer", session: "any" },
    ...{ connectTimeoutMs, applicationName: "" },
  };
  return realPostgres().connect(target);
}

async function refusalOf(...answers: readonly (Uint8Array | null)[]): Promise<string> {
  const made = await connectTo(serverWith(answers));
  return made.ok ? "let in" : made.error.message;
}

/** Connected, and then it gets these answers to the first statement that is run. */
async function connected(...answers: readonly (Uint8Array | null)[]): Promise<PostgresConnection> {
  const made = await connectTo(serverWith([Buffer.concat(LET_IN), ...answers]));
  if (!made.ok) throw new Error(made.error.message);
  return made.value;
}

async function outcomeOf(...answers: readonly (Uint8Array | null)[]) {
  const connection = await connected(Buffer.concat(PREPARED), ...answers);
  const outcome = await connection.run(STATEMENT, [], TIMEOUT_MS);
  return { outcome, isOpen: connection.isOpen, connection };
}

const complete = (...frames: readonly Uint8Array[]) => Buffer.concat([frame("2"), ...frames]);
const said = (type: "E" | "N", severity: string, code: string) =>
  frame(type, `S${severity}`, `V${severity}`, `C${code}`, "Mwords", NUL);

describe("before the login", () => {
  test("ST1 bytes behind the answer to TLS are not taken for the server's", async () => {
    const made = await connectTo(serverWith([Buffer.concat([S, ...LET_IN])]), "require", 2_000);
    expect(made).toMatchObject({ ok: false, error: { message: expect.stringContaining("before TLS began") } });
  });

  test("ST2 a server without TLS, or with something else to say, is left", async () => {
    for (const answer of [N, said("E", "FATAL", "0A000"), Buffer.from([0])]) {
      const made = await connectTo(serverWith([answer]), "require");
      const error = { message: expect.stringContaining("no TLS"), hint: expect.stringContaining("ssl = on") };
      expect(made).toMatchObject({ ok: false, error });
    }
  });

  test("what is no login ends it, with the reason and without the password", async () => {
    const long = Buffer.concat([Buffer.from("R"), Buffer.from([0, 2, 0, 0])]);
    const cases: readonly [RegExp, readonly (Uint8Array | null)[]][] = [
      [/closed/, [null]],
      [/131072 bytes/, [long]],
      [/type D before the login/, [frame("D", int16(0))]],
      [/type D at the start/, [Buffer.concat([frame("R", 0), frame("D", int16(0))])]],
      [/by MD5/, [frame("R", 5, 1)]],
      [/plain text/, [frame("R", 3)]],
      [/not know \(7\)/, [frame("R", 7)]],
      [/no SCRAM/, [frame("R", 10, "SCRAM-SHA-1", NUL)]],
      [/not due/, [frame("R", 10, "SCRAM-SHA-256", NUL), frame("R", 12, Buffer.from("v=x"))]],
      [/does not belong/, [frame("R", 10, "SCRAM-SHA-256", NUL), frame("R", 11, Buffer.from("r=x,s=eA==,i=4096"))]],
      [/too short/, [frame("R", NUL)]],
      [/without a code/, [frame("E", "Mx", NUL)]],
      [/words \(28000\)/, [said("E", "FATAL", "28000")]],
    ];
    for (const [says, answers] of cases) {
      const refusal = await refusalOf(...answers);
      expect(refusal).toMatch(says);
      expect(refusal).not.toContain("secret");
    }
  });

  test("a server that says nothing is given up in time, and one that accepts nobody as well", async () => {
    const made = await connectTo(serverWith([]), "disable", 50);
    expect(made).toMatchObject({ ok: false, error: { message: expect.stringContaining("no answer within 0.05 s") } });
    const tls = await connectTo(serverWith([]), "require", 50);
    expect(tls).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("no connection within 0.05 s") },
    });
  });
});

describe("PG1 PG2 PG3 what came of a statement", () => {
  test("done: only when the server is ready, with every notice on the way", async () => {
    const warning = said("N", "WARNING", "01000");
    const { outcome, isOpen } = await outcomeOf(complete(frame("C", "X"), warning, READY));
    const notices = [{ severity: "WARNING", sqlstate: "01000", message: "words" }];
    expect(outcome).toEqual({ kind: "done", rows: [], notices });
    expect(isOpen).toBe(true);
  });

  test("refused: an error, if the server then is ready", async () => {
    const { outcome, isOpen } = await outcomeOf(complete(said("E", "ERROR", "23505"), READY));
    expect(outcome).toEqual({ kind: "refused", sqlstate: "23505", message: "words" });
    expect(isOpen).toBe(true);
  });

  const unknown: Readonly<Record<string, readonly (Uint8Array | null)[]>> = {
    "carried out, and then closed": [complete(frame("C", "X")), null],
    "closed without a word": [null],
    "an error, and then closed": [said("E", "ERROR", "23505"), null],
    "a fatal error": [complete(frame("C", "X"), said("E", "FATAL", "57P01"))],
    "ready, inside of a transaction": [complete(frame("C", "X"), frame("Z", Buffer.from("T")))],
    "ready, inside of one that failed": [complete(said("E", "ERROR", "23505"), frame("Z", Buffer.from("E")))],
    "ready, and nothing was carried out": [complete(READY)],
    "a row that was not announced": [complete(frame("D", int16(1), -1), frame("C", "X"), READY)],
    "a message of an unknown type": [complete(frame("y"), frame("C", "X"), READY)],
    "more notices than anyone reads": [complete(...Array.from({ length: 101 }, () => said("N", "NOTICE", "00000")))],
    "a message longer than any": [Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff])],
  };
  for (const [what, answers] of Object.entries(unknown)) {
    test(`unknown, and the connection is closed: ${what}`, async () => {
      const answered = answers[0] === null ? answers : [answers[0] ?? null];
      const connection = await connected(Buffer.concat(PREPARED), ...answered);
      const running = connection.run(STATEMENT, [], answers.length > 1 ? 200 : TIMEOUT_MS);
      expect((await running).kind).toBe("unknown");
      expect(connection.isOpen).toBe(false);
      const next = await connection.run(STATEMENT, [], TIMEOUT_MS);
      expect(next).toMatchObject({ kind: "refused", sqlstate: "08006" }); // Nothing is sent any more.
    });
  }

  test("refused: whatever happens while it is being prepared", async () => {
    for (const answer of [null, Buffer.from("junk that is no frame"), said("E", "FATAL", "57P01")]) {
      const connection = await connected(answer);
      expect(await connection.run(STATEMENT, [], TIMEOUT_MS)).toMatchObject({ kind: "refused", sqlstate: "08006" });
      expect(connection.isOpen).toBe(false);
    }
  });

  test("an answer that nobody asked for is no answer to the next statement", async () => {
    const done = Buffer.concat([complete(frame("C", "X")), READY]);
    const { connection } = await outcomeOf(Buffer.concat([done, done]));
    expect(await connection.run(STATEMENT, [], TIMEOUT_MS)).toMatchObject({ kind: "refused", sqlstate: "08006" });
  });

  test("no bytes of a server do more than end the connection", async () => {
    const pieces = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .tuple(fc.constantFrom(..."RSKZ123CDEINTtnsA"), fc.uint8Array({ maxLength: 30 }))
        .map(([kind, body]) => frame(kind, body)),
      fc.constantFrom(READY, frame("2"), frame("C", "X"), said("E", "ERROR", "23505"), said("N", "WARNING", "01000")),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { minLength: 1, maxLength: 8 }), async (all) => {
        const connection = await connected(Buffer.concat(PREPARED), Buffer.concat(all));
        const outcome = await connection.run(STATEMENT, [], 30);
        expect(["done", "refused", "unknown"]).toContain(outcome.kind);
        connection.close();
        for (const server of servers.splice(0)) server.stop(true);
      }),
      { numRuns: 60 },
    );
  });
});
