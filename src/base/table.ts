// Table: an immutable map from names to values. Setting a name returns a new table that shares most of the old one.
// T1. A table never changes.
// T2. Setting one of ten thousand names copies two short rows and a short bucket, never all names.

const BITS = 5;
const WIDTH = 1 << BITS;
const MASK = WIDTH - 1;

type Bucket<T> = readonly (readonly [name: string, value: T])[];
type Row<T> = readonly (Bucket<T> | undefined)[];

export type Table<T> = { readonly size: number; readonly rows: readonly (Row<T> | undefined)[] };

export function tableOf<T>(entries: Readonly<Record<string, T>> = {}): Table<T> {
  return withAll({ size: 0, rows: [] }, entries);
}

export function lookUp<T>({ rows }: Table<T>, name: string): T | undefined {
  const hash = hashOf(name);
  return rows[hash >> BITS]?.[hash & MASK]?.find(([other]) => other === name)?.[1];
}

export function withValue<T>({ size, rows }: Table<T>, name: string, value: T): Table<T> {
  const hash = hashOf(name);
  const bucket = rows[hash >> BITS]?.[hash & MASK] ?? [];
  const others = bucket.filter(([other]) => other !== name);
  const row = [...(rows[hash >> BITS] ?? [])];
  row[hash & MASK] = [...others, [name, value]];
  const changed = [...rows];
  changed[hash >> BITS] = row;
  return { size: size + (others.length === bucket.length ? 1 : 0), rows: changed };
}

export function withAll<T>(table: Table<T>, entries: Readonly<Record<string, T>>): Table<T> {
  let found = table;
  for (const [name, value] of Object.entries(entries)) found = withValue(found, name, value);
  return found;
}

/** The table as a plain object with sorted names: equal tables give the same text. */
export function toRecord<T>({ rows }: Table<T>): Readonly<Record<string, T>> {
  const entries = rows.flatMap((row) => (row ?? []).flatMap((bucket) => bucket ?? []));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** FNV-1a, folded to the number of buckets. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 10) ^ (hash >>> 20)) & (WIDTH * WIDTH - 1);
}
