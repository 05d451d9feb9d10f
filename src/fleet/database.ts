// The database of a fleet, as everything here uses it: one connection, made when it is needed, and again when it is
// lost.
// DB1. Calls are carried out one after the other. Whoever must not wait for others has a Database of its own: the log.
// DB2. A circuit breaker is around every call (CB-1). A failure is a call after which the connection is gone, or for
//      which there was none; a refusal of the database is an answer like others. While it is open, nothing is sent, so
//      what it refuses was surely not done. It is open for less time than RETRIES wait by then, so it takes none of
//      their tries: it stops those that come besides.
// DB3. A server that does not sync is refused: what it acknowledges is not durable.
import type { BackoffPolicy } from "../base/backoff.ts";
import { CircuitBreaker } from "../base/breaker.ts";
import { castsDoubt } from "../core/fleet/settle.ts";
import type { Clock } from "../world/clock.ts";
import type { Postgres, PostgresConnection, PostgresOutcome, PostgresTarget } from "../world/postgres.ts";
import { type Call, SESSION } from "./calls.ts";
import { DataError } from "./rows.ts";

export type Answer<R> =
  | { readonly kind: "done"; readonly value: R; readonly isDoubtful: boolean }
  | Exclude<PostgresOutcome, { kind: "done" }>;

/** Between tries of the same call. */
export const RETRIES: BackoffPolicy = { firstMs: 50, mostMs: 5_000, jitter: 0.2 };
/** DB2. After the fifth failure in a row the wait is 320 ms at least: the first is followed by no wait. */
const BREAKER = { name: "The database", threshold: 5, timeoutMs: 300 };
/** Longer than what waits for a lock there (sql.ts). */
const CALL_MS = 10_000;
/** SQLSTATE: the client could not connect. */
const NOT_CONNECTED = "08001";

export type DatabasePorts = { readonly postgres: Postgres; readonly target: PostgresTarget; readonly clock: Clock };

export class Database {
  readonly #ports: DatabasePorts;
  readonly #callMs: number;
  readonly #breaker = new CircuitBreaker(BREAKER);
  #connection: PostgresConnection | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #drops = 0;

  /** `callMs`: without an answer by then, the connection is given up. */
  constructor(ports: DatabasePorts, callMs = CALL_MS) {
    this.#ports = ports;
    this.#callMs = callMs;
  }

  /** Which of the hosts it is connected to, for messages. */
  get host(): string | undefined {
    return this.#connection?.host;
  }

  /** DB1 */
  call<P, R>(call: Call<P, R>, parameters: P, withinMs = this.#callMs): Promise<Answer<R>> {
    const run = async () => this.#guarded(() => this.#call(call, parameters, withinMs));
    const answer = this.#last.then(run, run);
    this.#last = answer;
    return answer;
  }

  /** The next call makes a new connection: perhaps to another host. */
  drop(): void {
    this.#drops += 1;
    this.#connection?.close();
    this.#connection = undefined;
  }

  /** DB2 */
  async #guarded<R>(act: () => Promise<Answer<R>>): Promise<Answer<R>> {
    const pass = this.#breaker.admit(this.#ports.clock.elapsed());
    if (!pass.ok) return { kind: "refused", sqlstate: NOT_CONNECTED, message: pass.error.message };
    const answer = await act();
    const now = this.#ports.clock.elapsed();
    if (this.#connection?.isOpen === true) this.#breaker.succeeded(pass.value, now);
    else this.#breaker.failed(pass.value, now, whyOf(answer));
    return answer;
  }

  async #call<P, R>(call: Call<P, R>, parameters: P, withinMs: number): Promise<Answer<R>> {
    const connected = await this.#connected();
    if (connected !== undefined) return connected;
    return this.#run(call, parameters, withinMs);
  }

  /** Returns why there is no connection. */
  async #connected(): Promise<Exclude<PostgresOutcome, { kind: "done" }> | undefined> {
    if (this.#connection?.isOpen === true) return undefined;
    const { postgres, target } = this.#ports;
    const drops = this.#drops;
    const made = await postgres.connect(target);
    if (!made.ok) return notConnected(`${made.error.message} ${made.error.hint}`);
    if (drops !== this.#drops) return this.#notWanted(made.value);
    this.#connection = made.value;
    const session = await this.#run(SESSION, undefined, CALL_MS);
    if (session.kind === "done" && session.value.fsync === "on") return undefined;
    this.drop();
    return notConnected(session.kind === "done" ? NO_SYNC : whyOf(session)); // DB3
  }

  /** It was dropped while it was being made. */
  #notWanted(connection: PostgresConnection) {
    connection.close();
    return notConnected("The connection was dropped.");
  }

  async #run<P, R>(call: Call<P, R>, parameters: P, withinMs: number): Promise<Answer<R>> {
    const outcome = await this.#connection?.run(call.statement, call.encode(parameters), withinMs);
    if (outcome === undefined) return notConnected("There is no connection.");
    if (outcome.kind !== "done") return outcome;
    try {
      return { kind: "done", value: call.decode(outcome.rows), isDoubtful: castsDoubt(outcome.notices) };
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      this.drop();
      return { kind: "unknown", why: `the database has ${error.message}` };
    }
  }
}

export const NO_SYNC = "The server runs with fsync = off: what it confirms does not survive a crash of its machine.";

function notConnected(message: string): Exclude<PostgresOutcome, { kind: "done" | "unknown" }> {
  return { kind: "refused", sqlstate: NOT_CONNECTED, message };
}

/** For people. */
export function whyOf(answer: Answer<unknown>): string {
  if (answer.kind === "refused") return `${answer.message} (${answer.sqlstate})`;
  return answer.kind === "unknown" ? answer.why : "The connection was closed.";
}
