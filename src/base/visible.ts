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

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
