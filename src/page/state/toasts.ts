// The outcome of what a person did, shown for a while and read by screen readers.
// TO1. A success goes by itself; a refusal stays until it is dismissed, because it says what to do.
import { signal } from "@preact/signals";
import type { Refusal, Result } from "../../base/result.ts";
import { after } from "../browser.ts";

export type Toast = {
  readonly id: number;
  readonly text: string;
  /** What to do next; only of a refusal. */
  readonly hint: string | undefined;
};

/** More would cover what they are about. */
const MAX_TOASTS = 4;
/** TO1. Long enough to be read twice. */
const SHOWN_MS = 5_000;

export const toasts = signal<readonly Toast[]>([]);
let last = 0;

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function tell(text: string, refusal?: Refusal): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value, { id, text, hint: refusal?.hint }].slice(-MAX_TOASTS);
  if (refusal === undefined) after(SHOWN_MS, () => dismiss(id)); // TO1
}

/** Says how it went, and passes it on. Without words for a success, what it has changed is seen. */
export async function outcome<T>(done: Promise<Result<T>>, success?: string): Promise<Result<T>> {
  const result = await done;
  if (!result.ok) tell(result.error.message, result.error);
  else if (success !== undefined) tell(success);
  return result;
}
