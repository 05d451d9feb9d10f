// Makes text safe to print: control characters (C0, DEL, C1) and bidi controls are escaped, so that text from an agent
// or a program can neither move the cursor nor reverse what a person reads. In JSON the escape means the same
// character.
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const UNSEEN_BUT_NEWLINE = /[^\P{Cc}\n]|[\p{Bidi_Control}\u2028\u2029]/gu;

/** For text with several lines. */
export function visible(text: string): string {
  return text.replace(UNSEEN_BUT_NEWLINE, escaped);
}

/** For text that must stay on one line. */
export function visibleLine(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** Also what takes no room (`\p{Cf}`), except what joins two emoji. */
const UNSEEN_IN_PROSE =
  /[^\P{Cc}\n]|[\u2028\u2029]|(?!\u200d)\p{Cf}|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Variation_Selector}])\u200d/gu;

/** For text of an agent, with several lines. */
export function visibleProse(text: string): string {
  return text.replace(UNSEEN_IN_PROSE, escaped);
}

/** Everything that takes no room, or looks like a space and is none; and marks that pile up on one letter. */
const DECEPTIVE = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]|[^\P{Zs} ]|(?<=\p{M}\p{M})\p{M}/gu;

/** For what a person is asked to allow: one line, in which every character can be seen. */
export function plainLine(text: string): string {
  return text.replace(DECEPTIVE, (character) => (character === "\t" ? "\\t" : escaped(character)));
}

/** A character outside of the first plane is two units, as in JSON. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
