// A button that does something and says how it went.
// AC1. While it works it cannot be pressed again. While the daemon is down, what needs it cannot be pressed at all;
//      what the host does itself can.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import type { Result } from "../../base/result.ts";
import { canAct, link } from "../state/session.ts";
import { outcome } from "../state/toasts.ts";

export type ActionProps = {
  readonly children: ComponentChildren;
  /** What it does; undefined from it means that a person changed their mind. */
  readonly run: () => Promise<Result<unknown>> | undefined;
  readonly success: string;
  readonly done?: () => void;
  readonly kind?: "primary" | "danger" | "plain";
  /** The accessible name, if the text alone does not say what it is about. */
  readonly label?: string;
  /** Shown beside the text; the view around it listens. */
  readonly hotkey?: string;
  /** The host does it without the daemon. */
  readonly isOfHost?: boolean;
};

export function Action(props: ActionProps): JSX.Element {
  const { children, run, success, done, kind = "plain", label, hotkey, isOfHost = false } = props;
  const busy = useSignal(false);
  const press = async () => {
    const work = run();
    if (work === undefined) return;
    busy.value = true;
    const result = await outcome(work, success);
    busy.value = false;
    if (result.ok) done?.();
  };
  const disabled = busy.value || !(isOfHost ? link.value.kind === "up" : canAct.value); // AC1
  return (
    <button
      type="button"
      class={`button ${kind}`}
      disabled={disabled}
      aria-busy={busy.value}
      {...(label !== undefined && { "aria-label": label })}
      {...(hotkey !== undefined && { "data-key": hotkey })}
      onClick={() => void press()}
    >
      {children}
    </button>
  );
}
