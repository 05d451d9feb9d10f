// A small form in a dialog: fields, one button that does it, and one that does not.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import type { Result } from "../../base/result.ts";
import { closeDialog } from "../state/dialog.ts";
import { outcome } from "../state/toasts.ts";

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
  const send = async (form: HTMLFormElement) => {
    const given = new FormData(form);
    const values = Object.fromEntries(fields.map(({ name }) => [name, String(given.get(name) ?? "")]));
    busy.value = true;
    const result = await outcome(run(values), success);
    busy.value = false;
    if (!result.ok) return;
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
