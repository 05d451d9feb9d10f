// What an agent asks for, in the form in which a person judges it.
// PV1. Nothing is left out: what a view does not know how to show is shown as JSON beside the rest.
// PV2. Every character can be seen (base/visible.ts): a command cannot hide a part of itself.
// PV3. A known tool is recognised by its whole input. If a field has another kind than expected, all of it is JSON.
import { isList, isRecord, type Json } from "../../base/json.ts";
import { plainLine } from "../../base/visible.ts";
import { type DiffLine, diffOf } from "./diff.ts";

export type PromptPart =
  | { readonly kind: "command"; readonly lines: readonly string[] }
  | { readonly kind: "edit"; readonly path: string; readonly lines: readonly DiffLine[]; readonly note: string }
  | { readonly kind: "note"; readonly text: string }
  | { readonly kind: "json"; readonly lines: readonly string[] };

type Input = { readonly [name: string]: Json };

export function promptParts(tool: string, input: Json): PromptPart[] {
  if (!isRecord(input)) return [jsonPart(input)];
  const known = commandIn(input) ?? editsIn(input) ?? writeIn(tool, input);
  if (known === undefined) return Object.keys(input).length === 0 ? [NO_ARGUMENTS] : [jsonPart(input)];
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !known.names.includes(name)));
  return [...known.parts, ...(Object.keys(rest).length === 0 ? [] : [jsonPart(rest)])]; // PV1
}

type Known = { readonly parts: readonly PromptPart[]; readonly names: readonly string[] };

const NO_ARGUMENTS: PromptPart = { kind: "note", text: "It has no arguments." };

/** Bash and its like: a command, and often what it is for. */
function commandIn({ command, description }: Input): Known | undefined {
  if (typeof command !== "string") return undefined;
  const lines = command.split("\n").map(plainLine); // PV2
  const note: PromptPart[] = typeof description === "string" ? [{ kind: "note", text: plainLine(description) }] : [];
  return {
    parts: [{ kind: "command", lines }, ...note],
    names: note.length > 0 ? ["command", "description"] : ["command"],
  };
}

/** Edit and MultiEdit. */
function editsIn(input: Input): Known | undefined {
  const { file_path: path, edits } = input;
  if (typeof path !== "string") return undefined;
  const single = editIn(path, input);
  if (single !== undefined) return { parts: [single], names: ["file_path", ...EDIT_NAMES] };
  if (!isList(edits) || edits.length === 0) return undefined;
  const parts = edits.map((edit) => (isRecord(edit) && hasOnlyEdit(edit) ? editIn(path, edit) : undefined));
  const all = parts.filter((part) => part !== undefined);
  return all.length === edits.length ? { parts: all, names: ["file_path", "edits"] } : undefined; // PV3
}

const EDIT_NAMES = ["old_string", "new_string", "replace_all"];

function hasOnlyEdit(edit: Input): boolean {
  return Object.keys(edit).every((name) => EDIT_NAMES.includes(name));
}

function editIn(path: string, { old_string, new_string, replace_all = false }: Input): PromptPart | undefined {
  if (typeof old_string !== "string" || typeof new_string !== "string" || typeof replace_all !== "boolean")
    return undefined;
  const note = replace_all ? "every place in the file" : "";
  return { kind: "edit", path: plainLine(path), lines: seen(diffOf(old_string, new_string)), note };
}

/** Write: a whole file. What is there now is not known here. */
function writeIn(tool: string, { file_path: path, content }: Input): Known | undefined {
  if (tool !== "Write" || typeof path !== "string" || typeof content !== "string") return undefined;
  const note = "the whole file becomes this";
  const part: PromptPart = { kind: "edit", path: plainLine(path), lines: seen(diffOf("", content)), note };
  return { parts: [part], names: ["file_path", "content"] };
}

function seen(lines: readonly DiffLine[]): DiffLine[] {
  return lines.map(({ kind, text }) => ({ kind, text: indented(text) })); // PV2
}

/** Tabs are how code is indented: in the text of a file they are shown as room. */
function indented(text: string): string {
  const tabs = /^\t*/.exec(text)?.[0] ?? "";
  return `${"    ".repeat(tabs.length)}${plainLine(text.slice(tabs.length))}`;
}

function jsonPart(value: Json): PromptPart {
  return { kind: "json", lines: JSON.stringify(value, null, 2).split("\n").map(plainLine) };
}
