// SQLite databases of other programs, read through Bun's own library.
// SQ1. Nothing is written: the connection and its statements are read-only. A database in WAL mode gets its `-shm` file
//      if that is missing, as from every reader.
// SQ2. The schema is not trusted: what it calls (in a view, or a computed column) may have no side effects. It may take
//      for ever all the same: only a process that can be killed reads here (src/database).
import { Database, SQLiteError } from "bun:sqlite";
import { Fault } from "../../base/fault.ts";

/** Its owner writes for milliseconds at a time. */
const BUSY_MS = 200;

export function sqliteRows(path: string, sql: string, parameters: readonly (string | number)[]): unknown[] {
  try {
    using database = new Database(path, { readonly: true, create: false, safeIntegers: false });
    database.run(`PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA busy_timeout = ${BUSY_MS}`); // SQ1, SQ2
    using statement = database.query(sql);
    return statement.all(...parameters);
  } catch (error) {
    if (error instanceof SQLiteError)
      throw new Fault({ code: error.code ?? "SQLITE_ERROR", operation: "query", path }, error);
    throw error;
  }
}
