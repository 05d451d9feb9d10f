// The one dialog that may be open: a form or a question in front of the views.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

export type OpenDialog = { readonly title: string; readonly body: ComponentChildren };

export const dialog = signal<OpenDialog | undefined>(undefined);
/** The command palette, and the list of keys. */
export const overlay = signal<"palette" | "keys" | undefined>(undefined);

export function openDialog(title: string, body: ComponentChildren): void {
  overlay.value = undefined;
  dialog.value = { title, body };
}

export function closeDialog(): void {
  dialog.value = undefined;
}
