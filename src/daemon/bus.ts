// The bus: publishes what happened to its subscribers. Nothing depends on delivery; whatever must not be lost is an
// event in the log.

export type Topic = string;
type Ear = (topic: Topic, data: unknown) => void;

export class Bus {
  readonly #ears = new Map<Ear, ReadonlySet<Topic>>();

  /** Returns the function that unsubscribes. `*` is every topic; `a.*` everything below `a.`. */
  subscribe(topics: readonly Topic[], ear: Ear): () => void {
    this.#ears.set(ear, new Set(topics));
    return () => void this.#ears.delete(ear);
  }

  publish(topic: Topic, data: unknown): void {
    for (const [ear, topics] of this.#ears) if (wanted(topics, topic)) ear(topic, data);
  }
}

function wanted(topics: ReadonlySet<Topic>, topic: Topic): boolean {
  if (topics.has("*") || topics.has(topic)) return true;
  for (let dot = topic.lastIndexOf("."); dot > 0; dot = topic.lastIndexOf(".", dot - 1)) {
    if (topics.has(`${topic.slice(0, dot)}.*`)) return true;
  }
  return false;
}
