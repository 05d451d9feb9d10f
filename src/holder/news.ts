// What a holder tells those that are not connected to it.

export type HolderNews = {
  /** There is something to see: a question, or how many are connected. */
  changed(): void;
  /** The program runs, or cannot be started yet: from now on someone may want to connect. */
  begun(): void;
  /** Its end is durable. */
  over(): void;
};

/** Before it runs, nobody is told. */
export const NO_NEWS: HolderNews = { changed: () => undefined, begun: () => undefined, over: () => undefined };
