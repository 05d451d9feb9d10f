// Which view is shown, in the address behind the #: the back button and bookmarks work, and the host never sees it.
// RT1. `?at=` is a place in the past of what is shown: of a terminal, a time (ISO 8601) or an offset of its tape; of an
//      agent, the number (seq) of an entry of its log; of a run, the number of an attempt of a step.
import { signal } from "@preact/signals";

export type Route =
  | { readonly view: "now" | "terminals" | "agents" | "workflows" | "access" | "homes" }
  /** RT1 */
  | { readonly view: "terminal" | "agent" | "run" | "home"; readonly id: string; readonly at?: string }
  | { readonly view: "recovery"; readonly report: string | undefined }
  | { readonly view: "search"; readonly words: string };

const ONE = { terminals: "terminal", agents: "agent", workflows: "run", homes: "home" } as const;
const MANY = { terminal: "terminals", agent: "agents", run: "workflows", home: "homes" } as const;

export function routeIn(hash: string): Route {
  const [path = "", query = ""] = hash.split("?");
  const [, view = "", name = ""] = path.split("/");
  const key = decoded(name);
  if (view === "terminals" || view === "agents" || view === "workflows" || view === "homes")
    return key === "" ? { view } : placed(ONE[view], key, query);
  if (view === "recovery") return { view, report: key === "" ? undefined : key };
  if (view === "search") return { view, words: new URLSearchParams(query).get("words") ?? "" };
  return view === "access" ? { view } : { view: "now" };
}

/** RT1 */
function placed(view: keyof typeof MANY, id: string, query: string): Route {
  const at = new URLSearchParams(query).get("at") ?? "";
  return at === "" ? { view, id } : { view, id, at };
}

export function hashOf(route: Route): string {
  if (route.view === "terminal" || route.view === "agent" || route.view === "run" || route.view === "home") {
    const at = route.at === undefined ? "" : `?at=${encodeURIComponent(route.at)}`;
    return `#/${MANY[route.view]}/${encodeURIComponent(route.id)}${at}`;
  }
  if (route.view === "recovery" && route.report !== undefined) return `#/recovery/${encodeURIComponent(route.report)}`;
  if (route.view === "search" && route.words !== "") return `#/search?words=${encodeURIComponent(route.words)}`;
  return `#/${route.view}`;
}

/** An address that a person has changed may be anything. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch (error) {
    if (error instanceof URIError) return "";
    throw error;
  }
}

export const route = signal<Route>({ view: "now" });

export function go(to: Route): void {
  location.hash = hashOf(to);
}

/** Follows the address. */
export function followAddress(): void {
  const read = () => {
    route.value = routeIn(location.hash);
  };
  addEventListener("hashchange", read);
  read();
}
