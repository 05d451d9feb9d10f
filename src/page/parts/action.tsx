// Buttons: one that does something and says how it went, and one that leads to a form or a question.
// AC1. While it works it cannot be pressed again. While the daemon is down, what needs it cannot be pressed at all;
//      what the host does itself can.
// AC2. What this browser may not do is not there.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import type { Result } from "../../base/result.ts";
import { type Method, may } from "../state/rights.ts";
import { canAct, link } from "../state/session.ts";
import { outcome } from "../state/toasts.ts";

export type ActionProps = {
  readonly children: ComponentChildren;
  /** AC2. The method that `run` calls. */
  readonly needs: Method;
  readonly run: () => Promise<Result<unknown>>;
  /** What is said then; without it, what it has changed is seen. */
  readonly success?: string;
  readonly done?: () => void;
  readonly kind?: "primary" | "danger" | "plain";
  /** The accessible name, if the text alone does not say what it is about. */
  readonly label?: string;
  /** Shown beside the text; the view around it listens. */
  readonly hotkey?: string;
  /** The host does it without the daemon. */
  readonly isOfHost?: boolean;
};

/** AC1 */
function isPossible(isOfHost: boolean): boolean {
  return isOfHost ? link.value.kind === "up" : canAct.value;
}

export function Action(props: ActionProps): JSX.Element | null {
  const { children, needs, run, success, done, kind = "plain", label, hotkey, isOfHost = false } = props;
  const busy = useSignal(false);
  const press = async () => {
    busy.value = true;
    const result = await outcome(run(), success);
    busy.value = false;
    if (result.ok) done?.();
  };
  const disabled = busy.value || !isPossible(isOfHost); // AC1
  if (!may(needs)) return null; // AC2
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

type LeadProps = Pick<ActionProps, "children" | "needs" | "kind" | "label" | "hotkey" | "isOfHost"> & {
  readonly to: () => void;
};

/** Leads to what asks for the rest; `needs` is what that will call (AC2). */
export function Lead(props: LeadProps): JSX.Element | null {
  const { children, needs, kind = "plain", label, hotkey, isOfHost = false, to } = props;
  if (!may(needs)) return null;
  return (
    <button
      type="button"
      class={`button ${kind}`}
      disabled={!isPossible(isOfHost)}
      {...(label !== undefined && { "aria-label": label })}
      {...(hotkey !== undefined && { "data-key": hotkey })}
      onClick={to}
    >
      {children}
    </button>
  );
}
