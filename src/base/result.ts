// An expected "no" is a value: `Result` carries either a value or a refusal, never both and never a throw.

/** Why something was not done: `code` for programs; `message` and `hint` (what to do next) for people. */
export type Refusal = { readonly code: string; readonly message: string; readonly hint: string };

export type Result<T, E = Refusal> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function refused(code: string, message: string, hint: string): { readonly ok: false; readonly error: Refusal } {
  return { ok: false, error: { code, message, hint } };
}
