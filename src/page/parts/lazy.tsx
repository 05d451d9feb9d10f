// A view that is loaded when it is first shown, so that the first load stays small.
// LZ1. If its file cannot be loaded, the page says so and offers another try. A host that was updated meanwhile has no
//      such file any more: then the page is to be reloaded.
import { type Signal, signal } from "@preact/signals";
import type { FunctionComponent, JSX } from "preact";
import { address } from "../browser.ts";
import { Empty } from "./frame.tsx";

type Loaded<P> = FunctionComponent<P> | "loading" | "failed" | undefined;

export function lazy<P extends object>(load: () => Promise<FunctionComponent<P>>): (props: P) => JSX.Element {
  const loaded: Signal<Loaded<P>> = signal(undefined);
  const begin = () => {
    loaded.value = "loading";
    load().then(
      (view) => (loaded.value = view),
      () => (loaded.value = "failed"), // LZ1
    );
  };
  return (props) => {
    if (loaded.value === undefined) begin();
    const Shown = loaded.value;
    if (typeof Shown === "function") return <Shown {...props} />;
    return <div class="view">{Shown === "failed" ? <NotLoaded again={begin} /> : <Empty>Loading…</Empty>}</div>;
  };
}

function NotLoaded({ again }: { readonly again: () => void }): JSX.Element {
  return (
    <>
      <Empty>This view could not be loaded. Holdfast may have been updated since the page was.</Empty>
      <p class="buttons">
        <button type="button" class="button" onClick={again}>
          Try again
        </button>
        <button type="button" class="button" onClick={address.reload}>
          Reload the page
        </button>
      </p>
    </>
  );
}
