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
  /** What is typed is not shown, and kept by no browser. */
  readonly type?: "password";
  /** One of these, instead of a text. */
  readonly choices?: readonly string[];
  /** Several lines. */
  readonly isLong?: boolean;
};

type FormProps = {
  readonly fields: readonly Field[];
  readonly submit: string;
  readonly danger?: boolean;
  /** What is said then; without it, what follows is seen. */
  readonly success?: string;
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
    if (success !== undefined) tell(success);
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

type FieldProps = { readonly field: Field; readonly isFirst: boolean };

function FormField({ field, isFirst }: FieldProps): JSX.Element {
  const { name, label, options, hint } = field;
  const list = options === undefined ? undefined : `options-${name}`;
  return (
    <label class="field" for={`field-${name}`}>
      <span>{label}</span>
      <Input field={field} isFirst={isFirst} list={list} />
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

function Input({ field, isFirst, list }: FieldProps & { readonly list: string | undefined }): JSX.Element {
  const { name, value, choices, isOptional = false, isLong = false, type } = field;
  const id = `field-${name}`;
  if (choices !== undefined)
    return (
      <select id={id} name={name} autofocus={isFirst} required={!isOptional && choices.includes("")}>
        {choices.map((choice) => (
          <option key={choice} value={choice} selected={choice === value}>
            {choice === "" ? "not given" : choice}
          </option>
        ))}
      </select>
    );
  const common = { id, name, defaultValue: value, required: !isOptional, autofocus: isFirst };
  if (isLong) return <textarea {...common} rows={3} spellcheck={false} />;
  if (type === "password") return <input {...common} type="password" autocomplete="off" />;
  return <input {...common} type="text" {...(list && { list })} />;
}
