// A small form in a dialog: fields, one button that does it, and one that does not.
// FO1. A refusal is shown in the form: what is behind a modal dialog can be neither reached nor heard.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import type { Refusal, Result } from "../../base/result.ts";
import { closeDialog } from "../state/dialog.ts";
import { tell } from "../state/toasts.ts";
import { Words } from "./frame.tsx";

export type Field = {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Suggestions. */
  readonly options?: readonly string[];
  readonly hint?: string;
  readonly isOptional?: boolean;
};

type FormProps = {
  readonly fields: readonly Field[];
  readonly submit: string;
  readonly danger?: boolean;
  readonly success: string;
  readonly run: (values: Readonly<Record<string, string>>) => Promise<Result<unknown>>;
  readonly done?: (values: Readonly<Record<string, string>>) => void;
  readonly children?: ComponentChildren;
};

export function Form({ fields, submit, danger = false, success, run, done, children }: FormProps): JSX.Element {
  const busy = useSignal(false);
  const refusal = useSignal<Refusal | undefined>(undefined);
  const send = async (form: HTMLFormElement) => {
    const given = new FormData(form);
    const values = Object.fromEntries(fields.map(({ name }) => [name, String(given.get(name) ?? "")]));
    busy.value = true;
    const result = await run(values);
    busy.value = false;
    refusal.value = result.ok ? undefined : result.error; // FO1
    if (!result.ok) return;
    tell(success);
    closeDialog();
    done?.(values);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send(event.currentTarget);
      }}
    >
      {children}
      {fields.map((field, at) => (
        <FormField key={field.name} field={field} isFirst={at === 0} />
      ))}
      {refusal.value !== undefined && (
        <p class="note warn" role="alert">
          <Words text={`${refusal.value.message} ${refusal.value.hint}`} />
        </p>
      )}
      <p class="buttons">
        <button type="submit" class={`button ${danger ? "danger" : "primary"}`} disabled={busy.value}>
          {submit}
        </button>
        <button type="button" class="button" autofocus={fields.length === 0} onClick={closeDialog}>
          Cancel
        </button>
      </p>
    </form>
  );
}

function FormField({ field, isFirst }: { readonly field: Field; readonly isFirst: boolean }): JSX.Element {
  const { name, label, value, options, hint, isOptional = false } = field;
  const list = options === undefined ? undefined : `options-${name}`;
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        name={name}
        defaultValue={value}
        required={!isOptional}
        autofocus={isFirst}
        {...(list && { list })}
      />
      {list !== undefined && (
        <datalist id={list}>
          {options?.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
      {hint !== undefined && <span class="soft">{hint}</span>}
    </label>
  );
}
