// What is sent to a PostgreSQL server, and what its answers say.
import { visibleLine } from "../../../base/visible.ts";
import type { PostgresNotice, PostgresRow, PostgresStatement, PostgresValue } from "../../postgres.ts";
import { Fields, frame, int16, ProtocolError, textOf } from "./frames.ts";

const VERSION_3 = 196_608;
const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
const BYTEA = 17;
const NULL_LENGTH = -1;
/** As the protocol counts parameters and columns. */
const MAX_VALUES = 65_535;
/** Longer, it is no message for a person. */
const MAX_MESSAGE = 500;

export const SYNC = frame("S");
export const TERMINATE = frame("X");
export const ASK_TLS = frame("", SSL_REQUEST);

export function startup(parameters: Readonly<Record<string, string>>): Uint8Array {
  return frame("", VERSION_3, ...Object.entries(parameters).flat(), new Uint8Array(1));
}

export type BackendKey = { readonly pid: number; readonly secret: Uint8Array };

export function cancelRequest({ pid, secret }: BackendKey): Uint8Array {
  return frame("", CANCEL_REQUEST, pid, secret);
}

export function prepare({ name, text }: PostgresStatement): Uint8Array {
  return Buffer.concat([frame("P", name, text, int16(0)), frame("D", Buffer.from("S"), name), SYNC]);
}

/** Which columns are bytes; those come as they are, and all others as text. */
export type Columns = readonly boolean[];

export function execute(name: string, values: readonly PostgresValue[], columns: Columns): Uint8Array {
  if (values.length > MAX_VALUES) throw new RangeError("a statement has fewer parameters");
  const formats = values.map((value) => int16(value instanceof Uint8Array ? 1 : 0));
  const bind = frame(
    "B",
    ...["", name, int16(values.length), ...formats, int16(values.length)],
    ...values.flatMap(parameter),
    ...[int16(columns.length), ...columns.map((isBytes) => int16(isBytes ? 1 : 0))],
  );
  return Buffer.concat([bind, frame("E", "", 0), SYNC]);
}

function parameter(value: PostgresValue): readonly (number | Uint8Array)[] {
  if (value === null) return [NULL_LENGTH];
  const bytes = typeof value === "string" ? Buffer.from(value) : value;
  return [bytes.length, bytes];
}

/** Of a RowDescription. */
export function columnsIn(body: Uint8Array): Columns {
  const fields = new Fields(body);
  return Array.from({ length: fields.int16() }, () => {
    fields.text();
    fields.take(6);
    const type = fields.int32();
    fields.take(8);
    return type === BYTEA;
  });
}

export function rowIn(body: Uint8Array, columns: Columns): PostgresRow {
  const fields = new Fields(body);
  if (fields.int16() !== columns.length) throw new ProtocolError("a row with other columns than announced");
  return columns.map((isBytes) => {
    const length = fields.int32();
    if (length === NULL_LENGTH) return null;
    const bytes = fields.take(length);
    return isBytes ? new Uint8Array(bytes) : textOf(bytes);
  });
}

/** Of an ErrorResponse or a NoticeResponse. `V` is the severity in English; `S` is translated. */
export function noticeIn(body: Uint8Array): PostgresNotice {
  const fields = new Fields(body);
  const given = new Map<string, string>();
  for (;;) {
    const [key = 0] = fields.take(1);
    if (key === 0) break;
    given.set(String.fromCharCode(key), fields.text());
  }
  const message = visibleLine(given.get("M") ?? "").slice(0, MAX_MESSAGE);
  const sqlstate = given.get("C") ?? "";
  const severity = given.get("V") ?? given.get("S") ?? "";
  if (!/^[\dA-Z]{5}$/.test(sqlstate)) throw new ProtocolError("an error or notice without a code");
  return { severity: visibleLine(severity).slice(0, MAX_MESSAGE), sqlstate, message };
}

export function isFatal({ severity }: PostgresNotice): boolean {
  return severity === "FATAL" || severity === "PANIC";
}
