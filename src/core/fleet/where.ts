// What the homes of a fleet are called in lists and commands, and which one a person means. Pure.
// WH1. A home is called like its host, or HOST/HOME if its host has several.
// WH2. Besides, a home is meant by its own name, and by its id or the beginning of it. If several are meant, all are
//      returned: what is looked for may be in one of them only.

export type Place = {
  /** Its id, and its name in the fleet. */
  readonly home: string;
  readonly name: string;
  /** The name of the host that has it. */
  readonly owner: string;
};

const MIN_ID = 4;

/** WH1, by the ids of the homes. */
export function labelsOf(places: readonly Place[]): ReadonlyMap<string, string> {
  const many = Map.groupBy(places, ({ owner }) => owner);
  return new Map(
    places.map(({ home, name, owner }) => [home, (many.get(owner)?.length ?? 0) > 1 ? `${owner}/${name}` : owner]),
  );
}

/** WH2 */
export function placesNamed<P extends Place>(places: readonly P[], key: string): readonly P[] {
  const labels = labelsOf(places);
  const ways: readonly ((place: P) => boolean)[] = [
    ({ home }) => labels.get(home) === key,
    ({ owner }) => owner === key,
    ({ name }) => name === key,
    ({ home }) => key.length >= MIN_ID && home.startsWith(key),
  ];
  for (const way of ways) {
    const found = places.filter(way);
    if (found.length > 0) return found;
  }
  return [];
}

/** `HOST/NAME` in its two parts; undefined if it names nothing elsewhere: no name of a terminal has a slash. */
export function apart(key: string): { readonly where: string; readonly name: string } | undefined {
  const at = key.lastIndexOf("/");
  return at < 1 || at === key.length - 1 ? undefined : { where: key.slice(0, at), name: key.slice(at + 1) };
}
