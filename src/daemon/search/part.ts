// The part of the daemon that searches: names in memory, everything else by the search program and its index.
// SR1. It has no sessions. The index is a cache: whatever becomes of it, only searches are slower or incomplete.
// SR2. What was removed is not found: neither named nor searched, and its index is removed at once.
// SR3. Every answer says how far the index is.
import { ok, type Result } from "../../base/result.ts";
import { CRASH_DETECTED } from "../../home/last-crash.ts";
import { type Params, paramsOf } from "../../wire/rpc/params.ts";
import type { SearchHit, SearchResult } from "../../wire/rpc/search.ts";
import { type FindRequest, type FoundHit, MAX_SEARCH_LINE, searchAnswerOf } from "../../wire/search.ts";
import type { SearchIn } from "../../wire/search-in.ts";
import { AskedProgram } from "../asked-program.ts";
import { NO_SESSIONS, NOT_LIVE, type Part, type PartPorts } from "../part.ts";
import { Indexing, SEARCH_SOURCE } from "./indexing.ts";
import { namesWith, type SearchLinks } from "./names.ts";

export type SearchPart = Part & {
  /** A terminal has printed something. */
  printed(): void;
};

/** An answer takes a fraction of a second; a listing of very many sessions, more. */
const ANSWER_MS = 30_000;
const LIMIT = 50;
const KINDS: Readonly<Record<SearchIn, FindRequest["kinds"]>> = {
  terminals: ["terminal"],
  agents: ["agent"],
  prompts: ["prompt"],
  runs: ["run"],
  names: [],
};

export function openSearch({ world, config, bus, safeMode, say, isLive }: PartPorts, links: SearchLinks): SearchPart {
  const removed = () => [...idsOf(links.terminals()), ...idsOf(links.runs())];
  const indexing = new Indexing(world, {
    maxBytes: config.search.maxBytes,
    skip: removed,
    isOff: () => safeMode.isActive(),
    say,
  });
  const program = new AskedProgram(world, {
    name: "search",
    command: [SEARCH_SOURCE, "find", world.home],
    ...{ maxLine: MAX_SEARCH_LINE, answerMs: ANSWER_MS, kills: KILLS },
    crashed: (crash) => {
      say(`the search program (${crash.pid}) ended at work: ${crash.signal ?? crash.exitCode}, ${crash.reason}`);
      bus.publish(CRASH_DETECTED, crash);
    },
  });
  bus.subscribe(["terminal.*", "workflow.*", ...AGENT_TOPICS], (topic) =>
    topic.endsWith(".removed") ? indexing.removed() : indexing.wake(),
  ); // SR2
  const desk = new SearchDesk(links, { program, indexing, removed });
  return {
    handlers: {
      search: async (given) => {
        const params = paramsOf("search", given);
        if (!params.ok) return params;
        return isLive() ? desk.search(params.value) : NOT_LIVE;
      },
    },
    printed: () => indexing.wake(),
    goLive: () => indexing.goLive(),
    tick: () => indexing.tick(),
    stop: async () => {
      indexing.close();
      program.close();
    },
    ...NO_SESSIONS, // SR1
  };
}

const AGENT_TOPICS = ["agent.*", "message.*", "turn.*", "prompt.*", "tool.*"];

function* idsOf(all: Iterable<{ readonly id: string; readonly removed: boolean }>): Generator<string> {
  for (const { id, removed } of all) if (removed) yield id;
}

type DeskPorts = { readonly program: AskedProgram; readonly indexing: Indexing; removed(): readonly string[] };

class SearchDesk {
  readonly #links: SearchLinks;
  readonly #ports: DeskPorts;

  constructor(links: SearchLinks, ports: DeskPorts) {
    this.#links = links;
    this.#ports = ports;
  }

  async search({ words = [], in: place, limit = LIMIT, more }: Params<"search">): Promise<Result<SearchResult>> {
    const { program, indexing } = this.#ports;
    if (more !== undefined) return this.#answered([], await program.ask({ op: "more", search: more, limit }));
    const names = place === undefined || place === "names" ? namesWith(this.#links, words, limit) : [];
    if (place === "names" || words.length === 0) return ok({ hits: names, more: null, index: indexing.progress });
    indexing.now();
    const kinds = place === undefined ? [] : KINDS[place];
    return this.#answered(names, await program.ask({ op: "find", words, kinds, limit, skip: this.#ports.removed() }));
  }

  #answered(names: readonly SearchHit[], answer: Result<unknown>): Result<SearchResult> {
    const found = searchAnswerOf(answer);
    if (!found.ok) return found;
    const { hits, search, damaged } = found.value;
    this.#ports.indexing.damaged(damaged);
    const known = new Map([...this.#known()]);
    const named = hits.flatMap((hit) => this.#named(hit, known));
    return ok({ hits: [...names, ...named], more: search, index: this.#ports.indexing.progress }); // SR3
  }

  *#known(): Generator<readonly [id: string, name: string]> {
    for (const { id, name, removed } of this.#links.terminals()) if (!removed) yield [id, name];
    for (const { id, name } of this.#links.agents()) yield [id, name];
    for (const { id, name, removed } of this.#links.runs()) if (!removed) yield [id, name];
  }

  /** SR2. Of agents and runs, those that are archived are on disk only. */
  #named(hit: FoundHit, known: ReadonlyMap<string, string>): SearchHit[] {
    const name = known.get(hit.id);
    if (name === undefined && hit.kind === "terminal") return [];
    return [{ ...hit, name: name ?? hit.name ?? "" }];
  }
}

const KILLS = {
  code: "search.died",
  message: "The search program died of this search, twice.",
  hint: "`holdfast logs` may say why. `holdfast history NAME` has the output of a terminal.",
};
