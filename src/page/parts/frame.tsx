// What is around every view: dialogs, outcomes and small pieces that all views share.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { minutesAhead } from "../browser.ts";
import { closeDialog, dialog } from "../state/dialog.ts";
import { clock } from "../state/session.ts";
import { dismiss, toasts } from "../state/toasts.ts";
import { agoText, withLocalTimes } from "../words.ts";

/** A modal one: the browser keeps the focus inside, and gives it back. */
export function Modal({ title, close, children, kind = "" }: ModalProps): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return (
    <dialog ref={ref} class={`dialog ${kind}`} aria-label={title} onClose={close} onCancel={close}>
      {children}
    </dialog>
  );
}

type ModalProps = {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  readonly kind?: string;
};

export function OpenDialog(): JSX.Element | null {
  if (dialog.value === undefined) return null;
  const { title, body } = dialog.value;
  return (
    <Modal title={title} close={closeDialog} key={title}>
      <h2>{title}</h2>
      {body}
    </Modal>
  );
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite" aria-label="Outcomes">
      {toasts.value.map(({ id, text, hint }) => (
        <div key={id} class={hint === undefined ? "toast" : "toast bad"}>
          <p>
            <Words text={text} />
          </p>
          {hint !== undefined && hint !== "" && (
            <p class="soft">
              <Words text={hint} />
            </p>
          )}
          <button type="button" class="close" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

/** A time as an age, with the time itself for those who point at it. */
export function Ago({ at }: { readonly at: string | null }): JSX.Element {
  return (
    <time {...(at !== null && { dateTime: at, title: localised(at) })} class="nowrap">
      {agoText(at, clock.value)}
    </time>
  );
}

export function localised(text: string): string {
  return withLocalTimes(text, minutesAhead);
}

/** A sentence of ours: times by the reader's clock, and commands as such. */
export function Words({ text }: { readonly text: string }): JSX.Element {
  const parts = localised(text).split("`");
  return <>{parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

export function Empty({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <p class="empty">{children}</p>;
}

/** A state in a word, with a dot of its colour. */
export function State({ word, tone }: { readonly word: string; readonly tone: Tone }): JSX.Element {
  return <span class={`state ${tone}`}>{word}</span>;
}

export type Tone = "good" | "warn" | "bad" | "soft" | "info";

export function Section({ title, many, children }: SectionProps): JSX.Element {
  const id = `section-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title}
        {many !== undefined && <span class="many">{many}</span>}
      </h2>
      {children}
    </section>
  );
}

type SectionProps = { readonly title: string; readonly many?: number; readonly children: ComponentChildren };
