// PostgreSQL's file of passwords (~/.pgpass): lines of host:port:database:user:password, each field or `*`, with `\`
// before a `:` or a `\` that belongs to a field. The first line that fits counts.
import type { PostgresHost } from "../../base/postgres-host.ts";

type Login = { readonly host: PostgresHost; readonly database: string; readonly user: string };

const FIELDS = 5;

export function passwordIn(text: string, { host, database, user }: Login): string | undefined {
  const names = host.kind === "tcp" ? [host.host] : [host.directory, "localhost"];
  for (const line of text.split(/\r?\n/)) {
    const fields = line.startsWith("#") ? [] : fieldsOf(line);
    const [itsHost = "", port = "", itsDatabase = "", itsUser = "", password] = fields;
    const isFor = (field: string, ...values: readonly string[]) => field === "*" || values.includes(field);
    if (password === undefined || !isFor(itsHost, ...names) || !isFor(port, `${host.port}`)) continue;
    if (isFor(itsDatabase, database) && isFor(itsUser, user)) return password;
  }
  return undefined;
}

/** The password is the rest of its line, with the same escapes. */
function fieldsOf(line: string): string[] {
  const fields: string[] = [];
  let field = "";
  for (const [, escaped, plain = ""] of line.matchAll(/\\(.)|(.)/gs)) {
    if (plain === ":" && fields.length < FIELDS - 1) {
      fields.push(field);
      field = "";
    } else field += escaped ?? plain;
  }
  return [...fields, field];
}
