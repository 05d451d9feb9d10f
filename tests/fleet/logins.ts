// Every way to log in to a real PostgreSQL, or not to. `@` stands for the server's address, AUTHORITY and OTHER for
// files.
import { expect } from "bun:test";
import { realPostgres } from "../../src/world/real/postgres/client.ts";
import { type Operator, type TestServer, targetOf } from "./server.ts";

const FULL = "sslmode=verify-full&sslrootcert=AUTHORITY";

/** Undefined: it is let in. */
const LOGINS: readonly (readonly [url: string, refusal: RegExp | undefined])[] = [
  ["by_scram:s%C3%A9cret@", undefined],
  [`by_scram:s%C3%A9cret@?${FULL}`, undefined],
  [`by_scram:s%C3%A9cret@?${FULL}&channel_binding=require`, undefined],
  ["by_scram:s%C3%A9cret@?channel_binding=require", /does not bind its login/],
  ["by_scram:s%C3%A9cret@?sslmode=verify-full", /certificate.*sslrootcert/],
  ["by_scram:s%C3%A9cret@?sslmode=verify-full&sslrootcert=OTHER", /certificate/],
  ["by_scram:s%C3%A9cret@?sslmode=verify-ca&sslrootcert=OTHER", /certificate/],
  ["by_scram:s%C3%A9cret@?sslmode=require", undefined],
  [`by_scram:wrong@?${FULL}`, /28P01.*pgpass/],
  [`by_scram@?${FULL}`, /there is none.*pgpass/],
  [`by_text:pass@?${FULL}`, undefined],
  ["by_text:pass@?sslmode=verify-ca&sslrootcert=AUTHORITY", /plain text/],
  ["by_text:pass@?sslmode=require", /plain text/],
  [`by_text:pass@?${FULL}&channel_binding=require`, /does not bind/],
  [`by_md5:pass@?${FULL}`, /by MD5.*SCRAM/],
  ["by_trust@", undefined],
  ["by_trust@?sslmode=require", /nothing proves who it is/],
  ["by_trust@?sslmode=verify-ca&sslrootcert=AUTHORITY", undefined],
  ["by_scram:s%C3%A9cret@/nowhere", /3D000/],
  ["reader@", /only reads/],
  ["reader@?target_session_attrs=any", undefined],
];

const ROLES = [
  "create role by_scram login password 'sécret'",
  "create role by_text login password 'pass'",
  "set password_encryption = 'md5'",
  "create role by_md5 login password 'pass'",
  "create role by_trust login superuser",
  "create role reader login",
  "alter role reader set default_transaction_read_only = on",
];

export async function makeRoles(operator: Operator): Promise<void> {
  for (const role of ROLES) await operator.sql(role);
}

export async function logInEveryWay(place: TestServer): Promise<void> {
  for (const [short, refusal] of LOGINS) {
    const said = await login(place, short);
    expect({ short, said }).toEqual({ short, said: refusal === undefined ? "in" : expect.stringMatching(refusal) });
  }
}

async function login({ port, authority, other }: TestServer, short: string): Promise<string> {
  const [user = "", rest = ""] = short.split("@");
  const path = rest.startsWith("/") ? rest : `/postgres${rest}`;
  const host = user === "by_trust" || user === "reader" ? `127.0.0.1:1,127.0.0.1:${port}` : `127.0.0.1:${port}`;
  const url = `postgres://${user}@${host}${path}`.replace("AUTHORITY", authority).replace("OTHER", other);
  const made = await realPostgres().connect(targetOf(url));
  if (!made.ok) return `${made.error.message} ${made.error.hint}`;
  made.value.close();
  return "in";
}
