// Where a browser finds the page of a home on another host: by what that host announces (`[fleet] page`).
// PA1. It comes out of the database, which is not believed: only an address on the web without a login is one.

/** Stands for the name of the home, because every home has a page of its own. */
const HOME = "{home}";
const MAX_LENGTH = 2_000;

/** Undefined: it leads nowhere (PA1). */
export function pageAddress(announced: string, home: string): string | undefined {
  if (announced.length > MAX_LENGTH) return undefined;
  const url = URL.parse(announced.replaceAll(HOME, encodeURIComponent(home)));
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return url.username === "" && url.password === "" ? url.href : undefined;
}
