// What a prompt asks for: the whole command, the edit as a difference, or its arguments as JSON.
import type { JSX } from "preact";
import type { Json } from "../../base/json.ts";
import { count } from "../words.ts";
import { type DiffRow, folded } from "./diff.ts";
import { type PromptPart, promptParts } from "./prompt-view.ts";

export function PromptInput({ tool, input }: { readonly tool: string; readonly input: Json }): JSX.Element {
  return (
    <div class="input">
      {promptParts(tool, input).map((part, at) => (
        <Part key={at} part={part} />
      ))}
    </div>
  );
}

function Part({ part }: { readonly part: PromptPart }): JSX.Element {
  if (part.kind === "note") return <p class="note">{part.text}</p>;
  if (part.kind === "edit") return <Edit part={part} />;
  // It scrolls, and keys must reach that.
  return (
    <section class={part.kind} tabIndex={0} aria-label={part.kind === "command" ? "Command" : "Arguments"}>
      {part.lines.join("\n")}
    </section>
  );
}

type EditPart = Extract<PromptPart, { readonly kind: "edit" }>;

function Edit({ part }: { readonly part: EditPart }): JSX.Element {
  const changes = (kind: string) => part.lines.filter((line) => line.kind === kind).length;
  return (
    <figure class="edit">
      <figcaption>
        <code>{part.path}</code> <span class="good">+{changes("added")}</span>{" "}
        <span class="bad">−{changes("removed")}</span> <span class="soft">{part.note}</span>
      </figcaption>
      <section class="diff" tabIndex={0} aria-label={`Changes to ${part.path}`}>
        {folded(part.lines).map((row, at) => (
          <Row key={at} row={row} />
        ))}
      </section>
    </figure>
  );
}

const MARKS = { kept: " ", removed: "-", added: "+" };

function Row({ row }: { readonly row: DiffRow }): JSX.Element {
  if (row.kind === "fold") return <span class="line fold">{`  … ${count(row.lines, "line")} as before\n`}</span>;
  return <span class={`line ${row.kind}`}>{`${MARKS[row.kind]} ${row.text}\n`}</span>;
}
