// The terminals, agents and runs whose names have all words, the newest first.
import type { Agent } from "../../core/agent/agent.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import type { Run } from "../../core/workflow/run.ts";
import type { NameHit } from "../../wire/rpc/search.ts";

export type SearchLinks = {
  terminals(): Iterable<Terminal>;
  agents(): Iterable<Agent>;
  runs(): Iterable<Run>;
};

export function namesWith({ terminals, agents, runs }: SearchLinks, words: readonly string[], most: number): NameHit[] {
  const wanted = words.map((word) => word.toLowerCase());
  const found: NameHit[] = [];
  const look = (of: NameHit["of"], { id, name, createdAt }: Named, text: string) => {
    const lower = `${text} ${id}`.toLowerCase();
    if (wanted.every((word) => lower.includes(word))) found.push({ kind: "name", of, id, name, at: createdAt, text });
  };
  for (const one of terminals()) if (!one.removed) look("terminal", one, `${one.name} (lane ${one.lane})`);
  for (const one of agents()) look("agent", one, one.name);
  for (const one of runs()) if (!one.removed) look("run", one, `${one.name} ${one.path}`);
  return found.sort((one, other) => other.at.localeCompare(one.at)).slice(0, most);
}

type Named = { readonly id: string; readonly name: string; readonly createdAt: string };
