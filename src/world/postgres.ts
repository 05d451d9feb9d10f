// Access to PostgreSQL: a connection on which prepared statements are run, one at a time.
// PG1. A call is done only when the server is ready for the next one, outside of any transaction: then what it did is
//      committed. That it has been carried out is reported before the commit.
// PG2. Every notice of the server is part of the result. A *warning* can mean that the commit is not where it should
//      be: a cancelled wait for synchronous replication is a success with a warning.
// PG3. `refused` means that it was surely not committed. Whenever that is not certain, the outcome is `unknown`, and
//      the connection is closed.
// PG4. A server is believed only as far as its connection is verified, and passwords go only to a server that is
//      (real/postgres/login.ts). No password is in any message.
// PG5. Everything that a server sends is limited.
import type { PostgresHost } from "../base/postgres-host.ts";
import type { Result } from "../base/result.ts";

/** Bytes are a `bytea`; everything else is text, as the server writes it. */
export type PostgresValue = string | Uint8Array | null;
export type PostgresRow = readonly PostgresValue[];

/** Prepared once on each connection, under its name. */
export type PostgresStatement = { readonly name: string; readonly text: string };

/** `severity`: WARNING, NOTICE …, in English whatever the server's language is. */
export type PostgresNotice = { readonly severity: string; readonly sqlstate: string; readonly message: string };

export type PostgresOutcome =
  | { readonly kind: "done"; readonly rows: readonly PostgresRow[]; readonly notices: readonly PostgresNotice[] }
  | { readonly kind: "refused"; readonly sqlstate: string; readonly message: string }
  | { readonly kind: "unknown"; readonly why: string };

export interface PostgresConnection {
  /** Which of the hosts it leads to, for messages. */
  readonly host: string;
  readonly isOpen: boolean;
  /** One at a time. Without an answer by then, the connection is closed, and the outcome unknown (PG3). */
  run(statement: PostgresStatement, values: readonly PostgresValue[], withinMs: number): Promise<PostgresOutcome>;
  /** Asks the server to give up what is running. It may do so, or not; `run` says what came of it. */
  cancel(): Promise<void>;
  close(): void;
}

export type PostgresTarget = {
  /** Tried in this order. A password is not sent to another host. */
  readonly hosts: readonly (PostgresHost & { readonly password: string | undefined })[];
  readonly user: string;
  readonly database: string;
  /** As PEM; undefined: those that the runtime trusts. */
  readonly authority: string | undefined;
  readonly channelBinding: "prefer" | "require";
  /** `read-write`: a host that only reads, a standby for example, is passed over. */
  readonly session: "any" | "read-write";
  /** For each host. */
  readonly connectTimeoutMs: number;
  readonly applicationName: string;
};

export interface Postgres {
  /** The first host that takes us; the refusal says what each of them answered. */
  connect(target: PostgresTarget): Promise<Result<PostgresConnection>>;
}
