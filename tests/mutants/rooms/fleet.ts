// The mutants of a fleet: in src/fleet, and in the decisions, the client and the URLs below it (../mutant.ts).
import type { Mutant } from "../mutant.ts";

const MODEL = "tests/fleet/model.test.ts";
const LOG = "tests/fleet/remote-log.test.ts";
const CONTRACT = "tests/fleet/contract.test.ts";
const CLIENT = "src/world/real/postgres/client.test.ts";
const URL = "src/wire/files/postgres-url.test.ts";
const HISTORY = "whatever goes wrong, no confirmed batch is lost or doubled, and there is one history";
const BROKEN = /was confirmed to|ends at/;
const UNKNOWN = "PG1 PG2 PG3 what came of a statement > unknown, and the connection is closed:";
const PREPARING = "PG1 PG2 PG3 what came of a statement > refused: whatever happens while it is being prepared";

export const FLEET: readonly Mutant[] = [
  {
    mutant: "a batch's bytes are those of the caller, who uses its buffer again",
    file: "src/fleet/remote-log.ts",
    from: "bytes: new Uint8Array(bytes) }",
    to: "bytes }",
    killedBy: { file: MODEL, test: HISTORY, says: BROKEN },
  },
  {
    mutant: "an owner that was fenced goes on sending",
    file: "src/fleet/remote-log.ts",
    from: 'const isWanted = () => this.#state === "open"',
    to: 'const isWanted = () => this.#state !== "closed"',
    killedBy: { file: LOG, test: "RL4 once fenced, nothing is sent any more, neither a batch nor a renewal" },
  },
  {
    mutant: "a refusal of the database opens the breaker",
    file: "src/fleet/database.ts",
    from: "if (this.#connection?.isOpen === true) this.#breaker.succeeded",
    to: 'if (answer.kind === "done") this.#breaker.succeeded',
    killedBy: { file: CONTRACT, test: "CB-1d a refusal of the database is an answer, however often it comes" },
  },
  {
    mutant: "a server that does not sync is taken",
    file: "src/fleet/database.ts",
    from: ' && session.value.fsync === "on"',
    to: "",
    killedBy: { file: CONTRACT, test: "DB3 a server that does not sync is refused" },
  },
  {
    mutant: "a home is taken whose other history in the database is not looked at",
    file: "src/daemon/fleet/both-logs.ts",
    from: "a.session === b.session && Buffer.compare(a.line, b.line) === 0",
    to: "a.session === b.session",
    killedBy: {
      file: "src/daemon/fleet/two-histories.test.ts",
      test: "FM7 two histories are not mixed: who has another one than the database follows, says so, and keeps what it has",
    },
  },
  {
    mutant: "who knows that another host took the home takes it back",
    file: "src/core/fleet/start.ts",
    from: "take.epoch >= (lostAt ?? 0)",
    to: "true",
    killedBy: {
      file: "src/core/fleet/start.test.ts",
      test: "ST3 whoever knows that another host took it follows, also if the database has lost that take, and ours too",
    },
  },
  {
    mutant: "a hole in the log is passed over",
    file: "src/fleet/history.ts",
    from: "first > end + 1 || ",
    to: "",
    killedBy: { file: CONTRACT, test: "HI1 a hole in what is read is never passed over" },
  },
  {
    mutant: "a damaged blob is returned",
    file: "src/fleet/blobs.ts",
    from: "if (!Buffer.from(first.hash).equals(hashOf(bytes)))",
    to: "if (first.hash.length === 0)",
    killedBy: {
      file: CONTRACT,
      test: "simulated: a blob replaces the one before when it is whole, and only the owner stores it",
    },
  },
  {
    mutant: "a warning casts no doubt on a commit",
    file: "src/core/fleet/settle.ts",
    from: '["NOTICE", "INFO", "LOG", "DEBUG"]',
    to: '["NOTICE", "WARNING", "INFO", "LOG", "DEBUG"]',
    killedBy: { file: MODEL, test: HISTORY, says: BROKEN },
  },
  {
    mutant: "a barrier with a warning is enough",
    file: "src/core/fleet/settle.ts",
    from: 'return seen.isDoubtful ? { kind: "send", step: "hold", soon: false } : {',
    to: "return {",
    killedBy: {
      file: LOG,
      test: "a batch that only warnings answer is not confirmed, and a fail-over that loses it is noticed",
    },
  },
  {
    mutant: "an append that does not apply is taken for one that has",
    file: "src/core/fleet/settle.ts",
    from: 'case "did not apply":\n      return { kind: "send", step: "hold", soon: true };',
    to: 'case "did not apply":\n      return { kind: "settled" };',
    killedBy: { file: MODEL, test: HISTORY, says: BROKEN },
  },
  {
    mutant: "what is behind the server's answer to TLS is taken for its words",
    file: "src/world/real/postgres/stream.ts",
    from: '  if (answer.length > 1) throw new ProtocolError("more than its answer before TLS began");\n',
    to: "  if (answer.length > 1) socket.unshift(Buffer.from(answer.subarray(1)));\n",
    killedBy: {
      file: CLIENT,
      test: "before the login > ST1 bytes behind the answer to TLS are not taken for the server's",
    },
  },
  {
    mutant: "a statement inside of a transaction counts as done",
    file: "src/world/real/postgres/connection.ts",
    from: '  if (String.fromCharCode(body[0] ?? 0) !== IDLE) throw new ProtocolError("that it is inside of a transaction");\n',
    to: "  if (body.length > IDLE.length) throw new ProtocolError('x');\n",
    killedBy: { file: CLIENT, test: `${UNKNOWN} ready, inside of a transaction` },
  },
  {
    mutant: "a fatal error counts as a refusal",
    file: "src/world/real/postgres/connection.ts",
    from: "if (isSent) return",
    to: 'if (isSent && !why.includes("57P01")) return',
    killedBy: { file: CLIENT, test: `${UNKNOWN} a fatal error` },
  },
  {
    mutant: "what was never sent is of unknown outcome",
    file: "src/world/real/postgres/connection.ts",
    from: "let isSent = false;",
    to: "let isSent = statement.name.length > 0;",
    killedBy: { file: CLIENT, test: PREPARING },
  },
  {
    mutant: "a name in a URL may end the value, and begin a parameter",
    file: "src/wire/files/postgres-url.ts",
    from: "if (/\\p{Cc}/u.test(value))",
    to: "if (/\\n/u.test(value))",
    killedBy: { file: URL, test: "what is refused > postgres://u%00options=x@h/d", says: /it was taken/ },
  },
  {
    mutant: "a server elsewhere is not verified unless one asks for it",
    file: "src/wire/files/postgres-url.ts",
    from: 'isLoopback(host) ? "disable" : "verify-full"',
    to: 'isLoopback(host) ? "disable" : "require"',
    killedBy: { file: URL, test: "what a URL says > everything that is not written has its default" },
  },
];
