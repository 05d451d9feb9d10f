// A TypeScript file as the rules see it: its text without comments, or without the insides of strings as well.
// Lines and columns stay where they are, because what is left out is replaced by spaces.

type Piece = { readonly kind: "code" | "comment" | "literal"; readonly text: string };

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const STRING = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/y;
const PATTERN = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
/** A stretch of a template: from its backtick, or from the `}` of a hole, to the next hole or its end. */
const TEMPLATE = /[`}](?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y;
/** The first character of each of these, and of a brace within a hole. Trying them at every character takes seconds. */
const MARK = /[/"'`{}]/g;
/** A slash after one of these begins a pattern; after anything else it divides. */
const BEFORE_PATTERN = /(?:^|[=(,:[!&|?{};+*%<>~^-]|\b(?:return|typeof|case|in|of))\s*$/;

/** Comments gone; strings, templates and patterns stay. */
export const withoutComments = once((piece) => (piece.kind === "comment" ? blank(piece.text) : piece.text));

/** The comments alone. */
export const commentsOf = once((piece) => (piece.kind === "comment" ? piece.text : blank(piece.text)));

/** Only what runs: comments and the insides of literals gone, the code in a template's holes kept. */
export const codeOf = once((piece) => (piece.kind === "code" ? piece.text : inside(piece)));

/** A text is taken apart once, however many rules ask for it. */
function once(shown: (piece: Piece) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const made = known.get(text) ?? pieces(text).map(shown).join("");
    known.set(text, made);
    return made;
  };
}

export function lineOf(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

function inside(piece: Piece): string {
  if (piece.kind === "comment" || piece.text.length < 2) return blank(piece.text);
  return `${piece.text.at(0)}${blank(piece.text.slice(1, -1))}${piece.text.at(-1)}`;
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  const holes: number[] = []; // for each open `${`, how many braces are open within it
  let from = 0;
  for (let at = nextMark(text, 0); at < text.length; at = nextMark(text, at)) {
    const piece = literalAt(text, at, holes);
    if (piece === undefined) {
      countBrace(text[at], holes);
      at += 1;
      continue;
    }
    found.push({ kind: "code", text: text.slice(from, at) }, piece);
    at += piece.text.length;
    from = at;
  }
  return [...found, { kind: "code", text: text.slice(from) }];
}

/** Where a comment or a literal may begin next, or a hole end; the end of the text if nowhere. */
function nextMark(text: string, from: number): number {
  MARK.lastIndex = from;
  return MARK.exec(text)?.index ?? text.length;
}

function countBrace(character: string | undefined, holes: number[]): void {
  const open = holes.at(-1);
  if (open === undefined) return;
  if (character === "{") holes[holes.length - 1] = open + 1;
  if (character === "}") holes[holes.length - 1] = open - 1;
}

function literalAt(text: string, at: number, holes: number[]): Piece | undefined {
  const comment = matchAt(COMMENT, text, at);
  if (comment !== undefined) return { kind: "comment", text: comment };
  const plain = matchAt(STRING, text, at) ?? patternAt(text, at) ?? templateAt(text, at, holes);
  return plain === undefined ? undefined : { kind: "literal", text: plain };
}

function patternAt(text: string, at: number): string | undefined {
  if (text[at] !== "/" || !BEFORE_PATTERN.test(text.slice(Math.max(0, at - 40), at))) return undefined;
  return matchAt(PATTERN, text, at);
}

function templateAt(text: string, at: number, holes: number[]): string | undefined {
  const resumes = text[at] === "}" && holes.at(-1) === 0;
  if (text[at] !== "`" && !resumes) return undefined;
  const stretch = matchAt(TEMPLATE, text, at);
  if (resumes) holes.pop();
  if (stretch?.endsWith("${")) holes.push(0);
  return stretch;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
