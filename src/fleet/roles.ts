// The role that hosts use: it may read and change rows of our tables, and nothing else (docs/FLEET.md). The owner of
// the tables grants that.
// RO1. A role's name stands in a statement, so it has only characters that mean nothing there.
// RO2. Whether it worked is read afterwards: a server that grants nothing may only warn.
import { ok, type Result, refused } from "../base/result.ts";
import type { Call } from "./calls.ts";
import { type Database, whyOf } from "./database.ts";
import { only, text } from "./rows.ts";
import { MAY, TABLES } from "./sql.ts";

/** RO1 */
const ROLE = /^[\p{L}_][\p{L}\p{N}_-]{0,62}$/u;
const RIGHTS = "select, insert, update, delete";
const OWNER = "Do it with the URL of a role that owns the tables.";

function statementFor(role: string): Call<undefined, undefined> {
  const tables = TABLES.map((table) => `holdfast.${table}`).join(", ");
  const text = `do $holdfast$ begin
    grant usage on schema holdfast to "${role}";
    grant select on holdfast.version to "${role}";
    grant ${RIGHTS} on ${tables} to "${role}";
    alter default privileges in schema holdfast grant ${RIGHTS} on tables to "${role}";
  end $holdfast$`;
  return { statement: { name: "holdfast.grant", text }, encode: () => [], decode: () => undefined };
}

/** The names of the role, if there is such a one. */
const EXISTS: Call<string, boolean> = {
  statement: { name: "holdfast.role", text: "select 1::text from pg_catalog.pg_roles where rolname = $1" },
  encode: (role) => [role],
  decode: (rows) => rows.length > 0,
};

const MAY_WRITE: Call<string, boolean> = {
  statement: { name: "holdfast.role-may", text: `select (${MAY("$1, ")})::text` },
  encode: (role) => [role],
  decode: (rows) => text(only(rows)[0]) === "true",
};

/** Can be repeated. Tables that come later, with a newer version, are granted as well. */
export async function grantTo(database: Database, role: string): Promise<Result<undefined>> {
  if (!ROLE.test(role))
    return refused("fleet-role", "That is not the name of a role: letters, digits, _ and -.", "Name it as in psql.");
  const found = await database.call(EXISTS, role);
  if (found.kind !== "done") return refused("fleet-database", whyOf(found), OWNER);
  if (!found.value) return refused("fleet-role", `There is no role "${role}" in the database.`, howToMake(role));
  const granted = await database.call(statementFor(role), undefined);
  if (granted.kind !== "done")
    return refused("fleet-rights", `The database did not grant it: ${whyOf(granted)}.`, OWNER);
  const may = await database.call(MAY_WRITE, role); // RO2
  if (may.kind === "done" && may.value) return ok(undefined);
  return refused("fleet-rights", `The role "${role}" may not write to the tables yet.`, OWNER);
}

function howToMake(role: string): string {
  return `In psql: create role "${role}" login; \\password ${role}`;
}
