// One connection to a PostgreSQL server, once it is logged in.
// CN1. What a statement did counts only at ReadyForQuery, with the state "idle" (PG1).
// CN2. An error counts as a refusal only if the server then is ready: without that, nobody knows (PG3).
// CN3. While a statement is being prepared, nothing has been carried out: if the connection ends then, that is a
//      refusal.
import { assert } from "../../../base/assert.ts";
import type {
  PostgresConnection,
  PostgresNotice,
  PostgresOutcome,
  PostgresRow,
  PostgresStatement,
  PostgresValue,
} from "../../postgres.ts";
import { type Channel, ChannelClosed } from "./channel.ts";
import { type Frame, ProtocolError } from "./frames.ts";
import { type Columns, columnsIn, execute, isFatal, noticeIn, prepare, rowIn, TERMINATE } from "./messages.ts";

/** More, and the server is not telling us anything. */
const MAX_NOTICES = 100;
const [IDLE, NOT_PREPARED] = ["I", "08006"];
/** Neither tells anything of what runs: a changed setting of the server, and a message of another session. */
const ASIDE = ["S", "A"];

type Answer = {
  readonly rows: PostgresRow[];
  readonly notices: PostgresNotice[];
  error: PostgresNotice | undefined;
  columns: Columns;
  /** Whether the server has said that it was carried out. */
  isComplete: boolean;
};

export class RealPostgresConnection implements PostgresConnection {
  readonly host: string;
  readonly #channel: Channel;
  readonly #cancel: () => Promise<void>;
  readonly #prepared = new Map<string, Columns>();
  #isBusy = false;

  constructor(host: string, channel: Channel, cancel: () => Promise<void>) {
    this.host = host;
    this.#channel = channel;
    this.#cancel = cancel;
  }

  get isOpen(): boolean {
    return this.#channel.isOpen;
  }

  async run(
    statement: PostgresStatement,
    values: readonly PostgresValue[],
    withinMs: number,
  ): Promise<PostgresOutcome> {
    assert(!this.#isBusy, "a connection runs one statement at a time");
    this.#isBusy = true;
    try {
      return await this.#channel.limit(withinMs, () => this.#run(statement, values));
    } finally {
      this.#isBusy = false;
    }
  }

  cancel(): Promise<void> {
    return this.#cancel();
  }

  close(): void {
    if (this.isOpen) this.#channel.send(TERMINATE);
    this.#channel.close("we have closed it");
  }

  async #run(statement: PostgresStatement, values: readonly PostgresValue[]): Promise<PostgresOutcome> {
    let isSent = false;
    try {
      this.#checkLeftOver();
      const columns = this.#prepared.get(statement.name) ?? (await this.#prepare(statement));
      if ("kind" in columns) return columns;
      this.#channel.send(execute(statement.name, values, columns));
      isSent = true;
      const { error, rows, notices } = await this.#answer(columns);
      return error === undefined ? { kind: "done", rows, notices } : refusalOf(error); // CN2
    } catch (error) {
      const why = this.#closedBy(error);
      if (isSent) return { kind: "unknown", why };
      return { kind: "refused", sqlstate: NOT_PREPARED, message: `${this.host}: ${why}` }; // CN3
    }
  }

  /** Between two calls, a server may only say that it ends the connection. */
  #checkLeftOver(): void {
    for (const { type, body } of this.#channel.leftOver()) {
      if (type === "E") throw new ChannelClosed(textOfError(noticeIn(body)));
      if (type !== "N" && !ASIDE.includes(type))
        throw new ProtocolError(`a message of type ${type} that answers nothing`);
    }
  }

  async #prepare(statement: PostgresStatement): Promise<Columns | PostgresOutcome> {
    this.#channel.send(prepare(statement));
    const { error, columns } = await this.#answer([]);
    if (error !== undefined) return refusalOf(error);
    this.#prepared.set(statement.name, columns);
    return columns;
  }

  async #answer(columns: Columns): Promise<Answer> {
    const answer: Answer = { rows: [], notices: [], error: undefined, columns, isComplete: false };
    for (;;) {
      const next = await this.#channel.next();
      if (next.type === "Z") return finished(answer, next); // CN1
      add(answer, next);
    }
  }

  /** What the server sends can end the connection, and nothing else; any other error is a bug of ours. */
  #closedBy(error: unknown): string {
    if (!(error instanceof ProtocolError) && !(error instanceof ChannelClosed)) throw error;
    const why = error instanceof ProtocolError ? `the server sent ${error.message}` : error.message;
    this.#channel.close(why);
    return why;
  }
}

/** The answers to preparing (1, t, T, n) and to running (2, D, C). */
function add(answer: Answer, { type, body }: Frame): void {
  if (type === "D") answer.rows.push(rowIn(body, answer.columns));
  else if (type === "T") answer.columns = columnsIn(body);
  else if (type === "C" || type === "t") answer.isComplete = true;
  else if (type === "N") notice(answer, noticeIn(body));
  else if (type === "E") answer.error = errorIn(body);
  else if (!["1", "2", "n", ...ASIDE].includes(type)) throw new ProtocolError(`a message of type ${type}`);
}

function notice(answer: Answer, given: PostgresNotice): void {
  if (answer.notices.length === MAX_NOTICES) throw new ProtocolError(`more than ${MAX_NOTICES} notices`);
  answer.notices.push(given);
}

/** After a fatal error the server is never ready again (CN2). */
function errorIn(body: Uint8Array): PostgresNotice {
  const error = noticeIn(body);
  if (isFatal(error)) throw new ChannelClosed(textOfError(error));
  return error;
}

function finished(answer: Answer, { body }: Frame): Answer {
  if (String.fromCharCode(body[0] ?? 0) !== IDLE) throw new ProtocolError("that it is inside of a transaction");
  if (answer.error === undefined && !answer.isComplete) throw new ProtocolError("an answer that is not whole");
  return answer;
}

function refusalOf({ sqlstate, message }: PostgresNotice): PostgresOutcome {
  return { kind: "refused", sqlstate, message };
}

function textOfError({ sqlstate, message }: PostgresNotice): string {
  return `the server said: ${message} (${sqlstate})`;
}
