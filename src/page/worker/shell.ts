// The page's own files for times without a network. Nothing else is kept: no data, no answers, nothing of a home.
// SH1. The network comes first, always: a new version replaces an old one by itself, and what a cache has, or has lost,
//      locks nobody out. Kept files are used if the network fails, is silent for long, or knows a file no longer.
// SH2. Each build has its own cache, which is filled as a whole or not at all. The one before stays: a page that is
//      still open may ask for one of its files, whose names have a hash in them.
// SH3. A browser that keeps nothing, or whose cache is broken, has a page like any other.
import { after, fetched } from "../browser.ts";

export type Shell = { readonly build: string; readonly files: readonly string[] };

const CACHES = "holdfast-shell-";
const KEPT_BUILDS = 2;
/** SH1. A home answers within moments; a phone in a tunnel never does. */
const SLOW_MS = 5_000;

export class ShellKeeper {
  readonly #name: string;
  readonly #paths: ReadonlySet<string>;
  readonly #page: string;

  /** `scope`: the address of the page. */
  constructor({ build, files }: Shell, scope: string) {
    this.#name = `${CACHES}${build}`;
    this.#paths = new Set(files.map((file) => new URL(file, scope).href));
    this.#page = new URL("./", scope).href;
  }

  /** SH2, SH3 */
  async keep(): Promise<void> {
    const fresh = [...this.#paths].map((path) => new Request(path, { cache: "no-cache" }));
    await harmless(async () => (await caches.open(this.#name)).addAll(fresh));
  }

  /** SH2 */
  async forgetOthers(): Promise<void> {
    await harmless(async () => {
      const before = (await caches.keys()).filter((name) => name.startsWith(CACHES) && name !== this.#name);
      await Promise.all(before.slice(0, 1 - KEPT_BUILDS).map((name) => caches.delete(name)));
    });
  }

  /** Whether a request is for one of the page's files, of this version or another. */
  isOurs({ method, mode, url }: Pick<Request, "method" | "mode" | "url">): boolean {
    const isBelow = url.startsWith(this.#page) && !url.slice(this.#page.length).includes("/");
    return method === "GET" && isBelow && (mode === "navigate" ? this.#isPage(url) : /\.(?:js|css)(?:\?|$)/.test(url));
  }

  /** SH1 */
  async answer(request: Request): Promise<Response> {
    const asked = fetched(request);
    const failed = asked.catch(() => undefined); // It is returned below, if nothing is kept.
    const answered = await Promise.race([failed, silence()]);
    const isGood =
      answered !== undefined && answered.status < 500 && (answered.status !== 404 || this.#isPage(request.url));
    if (isGood) return answered;
    return (await this.#kept(request)) ?? answered ?? asked;
  }

  #isPage(url: string): boolean {
    return url.replace(/[?#].*/, "") === this.#page;
  }

  /** SH3 */
  async #kept(request: Request): Promise<Response | undefined> {
    const wanted = this.#isPage(request.url) ? this.#page : request.url;
    return harmless(async () => (await (await caches.open(this.#name)).match(wanted)) ?? (await caches.match(wanted)));
  }
}

function silence(): Promise<undefined> {
  return new Promise((resolve) => {
    after(SLOW_MS, () => resolve(undefined));
  });
}

/** SH3. What a browser throws about its storage, or a network that is away, is not the page's trouble. */
async function harmless<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DOMException || error instanceof TypeError) return undefined;
    throw error;
  }
}
