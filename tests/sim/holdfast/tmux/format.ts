// tmux's formats, as far as they are used: `#{name}`, `#{?name,then,else}`, and `##` for a `#`.

export function expand(text: string, lookUp: (name: string) => string): string {
  let expanded = "";
  for (let at = 0; at < text.length; ) {
    const end = text.startsWith("#{", at) ? closing(text, at + 2) : undefined;
    if (end !== undefined) expanded += one(text.slice(at + 2, end), lookUp);
    else expanded += text.startsWith("##", at) ? "#" : text.charAt(at);
    at = end === undefined ? at + (text.startsWith("##", at) ? 2 : 1) : end + 1;
  }
  return expanded;
}

function one(inside: string, lookUp: (name: string) => string): string {
  if (!inside.startsWith("?")) return lookUp(inside);
  const [name = "", then = "", otherwise = ""] = branches(inside.slice(1));
  const value = lookUp(name);
  return expand(value !== "" && value !== "0" ? then : otherwise, lookUp);
}

/** Where the brace closes that was opened before `from`. */
function closing(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text.charAt(at) === "{") depth += 1;
    if (text.charAt(at) === "}") depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}

/** At the commas that are not inside of braces. */
function branches(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const letter of text) {
    if (letter === "{") depth += 1;
    if (letter === "}") depth -= 1;
    if (letter === "," && depth === 0) parts.push("");
    else parts.push(`${parts.pop() ?? ""}${letter}`);
  }
  return parts;
}
