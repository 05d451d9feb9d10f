// What the detach key means, by what follows it. (detach-key.ts finds it in what is typed, and is loaded later.)
// DK1. The key alone detaches, a moment after it was pressed; pressed twice within that moment it goes to the program
//      once, as it was typed. An attach inside this terminal is left that way.
// DK2. Followed by n, p or s it leads to another terminal; by any other key, it detaches at once. Neither is typed.

/** Long enough to press another key, short enough to wait for when leaving. */
export const AGAIN_MS = 400;

export type Typed = { readonly kind: "text" | "key"; readonly bytes: Uint8Array };

export type DetachKey = {
  /** The input in pieces, in order: the key as often as it is in there, and what is between. */
  split(bytes: Uint8Array): Typed[];
};

export type SwitchTo = "next" | "previous" | "chosen";

const SWITCHES: ReadonlyMap<string, SwitchTo> = new Map([
  ["n", "next"],
  ["p", "previous"],
  ["s", "chosen"],
]);

/** DK2. Undefined if it does not lead elsewhere. */
export function switchBy(typed: Uint8Array): SwitchTo | undefined {
  return SWITCHES.get(String.fromCharCode(typed[0] ?? 0));
}
