// The names of homes in a fleet, and of their directories on a host that takes them over.
// NA1. A name in the database is nobody's path: what is not plain is not used.
import { matches, patternOf } from "../agent/pattern.ts";

/** The usual directory of a home says nothing about it: such a home is called like its host, others after both. */
const USUAL = "holdfast";
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const ENOUGH = 12;

/** `directory`: the last name of its path. */
export function homeName(directory: string, host: string): string {
  const name = directory.replace(/^\.+/, "");
  return name === USUAL || name === "" ? host : `${host}-${name}`;
}

/** NA1. `isThere`: whether something has this name already. */
export function directoryName(
  home: { readonly id: string; readonly name: string; readonly epoch: number },
  isThere: (name: string) => boolean,
): string {
  const name = PLAIN.test(home.name) ? home.name : home.id.slice(0, ENOUGH);
  return isThere(name) ? `${name}-${home.id.slice(0, ENOUGH)}-${home.epoch}` : name;
}

/** Whether one of the patterns is the whole of a name, as in `[fleet] take`. */
export function naming(texts: readonly string[]): (name: string) => boolean {
  const patterns = texts.map((text) => patternOf(text)).filter((pattern) => pattern !== undefined);
  return (name) => patterns.some((pattern) => matches(pattern, name, "wide"));
}
