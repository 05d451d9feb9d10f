// A look into an object by a name that another program chose. `constructor` and `__proto__` are names too, and what
// every object inherits is not an entry of it.
export function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
