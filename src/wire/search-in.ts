// Where a search can look. Apart from the shapes of searches, because every command loads it.

export const SEARCH_IN = ["terminals", "agents", "prompts", "runs", "names"] as const;
export type SearchIn = (typeof SEARCH_IN)[number];
