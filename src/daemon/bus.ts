// The bus: publishes what happened to its subscribers. Nothing depends on delivery; whatever must not be lost is an
// event in the log.
// BU1. What is kept reaches subscribers who come later as well, each of them once, until it is forgotten.
// BU2. Partial text goes only to subscribers who name it: it is a lot, and says nothing that lists show.
import { isPartialTopic } from "../wire/rpc/partial.ts";

export type Topic = string;
type Ear = (topic: Topic, data: unknown) => void;
type Kept = { readonly topic: Topic; readonly data: unknown; readonly heardBy: WeakSet<Ear> };

export class Bus {
  readonly #ears = new Map<Ear, ReadonlySet<Topic>>();
  readonly #kept = new Set<Kept>();

  /** Returns the function that unsubscribes. `*` is every topic but those of BU2; `a.*` everything below `a.`. */
  subscribe(topics: readonly Topic[], ear: Ear): () => void {
    this.#ears.set(ear, new Set(topics));
    for (const kept of this.#kept) this.#deliver(kept);
    return () => void this.#ears.delete(ear);
  }

  publish(topic: Topic, data: unknown): void {
    for (const [ear, topics] of this.#ears) if (wanted(topics, topic)) ear(topic, data);
  }

  /** BU1. Returns the function that forgets it. */
  publishAndKeep(topic: Topic, data: unknown): () => void {
    const kept: Kept = { topic, data, heardBy: new WeakSet() };
    this.#kept.add(kept);
    this.#deliver(kept);
    return () => void this.#kept.delete(kept);
  }

  #deliver({ topic, data, heardBy }: Kept): void {
    for (const [ear, topics] of this.#ears) {
      if (heardBy.has(ear) || !wanted(topics, topic)) continue;
      heardBy.add(ear);
      ear(topic, data);
    }
  }
}

function wanted(topics: ReadonlySet<Topic>, topic: Topic): boolean {
  if (topics.has(topic) || (topics.has("*") && !isPartialTopic(topic))) return true; // BU2
  for (let dot = topic.lastIndexOf("."); dot > 0; dot = topic.lastIndexOf(".", dot - 1)) {
    if (topics.has(`${topic.slice(0, dot)}.*`)) return true;
  }
  return false;
}
