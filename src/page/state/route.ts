// Which view is shown, in the address behind the #: the back button and bookmarks work, and the host never sees it.
import { signal } from "@preact/signals";

export type Route =
  | { readonly view: "now" | "terminals" | "access" }
  | { readonly view: "terminal"; readonly id: string }
  | { readonly view: "recovery"; readonly report: string | undefined };

export function routeIn(hash: string): Route {
  const [, view = "", name = ""] = hash.split("/");
  const key = decoded(name);
  if (view === "terminals") return key === "" ? { view } : { view: "terminal", id: key };
  if (view === "recovery") return { view, report: key === "" ? undefined : key };
  return view === "access" ? { view } : { view: "now" };
}

export function hashOf(route: Route): string {
  if (route.view === "terminal") return `#/terminals/${encodeURIComponent(route.id)}`;
  if (route.view === "recovery" && route.report !== undefined) return `#/recovery/${encodeURIComponent(route.report)}`;
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
