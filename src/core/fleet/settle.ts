// How a compare-and-set in the database is settled, whatever becomes of single calls: an owner's batch, or a take.
// It is sent until its outcome is certain; a fenced write (`hold`) explains what the statement itself cannot.
// SE1. Of an outcome that nobody knows, nothing that is read says anything: what was sent may still be carried out. The
//      same compare-and-set is sent again, and takes effect once.
// SE2. If it does not apply, a write under our own epoch says why: it waits for everything that is under way.
// SE3. That write is also the barrier after a warning: once it is committed without one, so is everything before it.
// SE4. If that write does not apply either, somebody else owns the home. This is final.

export type Step = "set" | "hold";

/** What came of a call. `isDoubtful`: with a warning. */
export type Seen =
  | { readonly kind: "applied"; readonly isDoubtful: boolean }
  | { readonly kind: "did not apply" }
  | { readonly kind: "held"; readonly lastSeq: number; readonly isDoubtful: boolean }
  | { readonly kind: "not ours" }
  | { readonly kind: "failed" };

export type Next =
  | { readonly kind: "send"; readonly step: Step; readonly soon: boolean }
  | { readonly kind: "settled" }
  /** It is held without a doubt: `lastSeq` is what counts. */
  | { readonly kind: "look"; readonly lastSeq: number }
  | { readonly kind: "fenced" };

export function nextStep(step: Step, seen: Seen): Next {
  switch (seen.kind) {
    case "applied":
      return seen.isDoubtful ? { kind: "send", step: "hold", soon: true } : { kind: "settled" }; // SE3
    case "did not apply":
      return { kind: "send", step: "hold", soon: true }; // SE2
    case "held":
      return seen.isDoubtful ? { kind: "send", step: "hold", soon: false } : { kind: "look", lastSeq: seen.lastSeq };
    case "not ours":
      return { kind: "fenced" }; // SE4
    case "failed":
      return { kind: "send", step, soon: false }; // SE1
  }
}

export type BatchRange = { readonly first: number; readonly last: number };

/**
 * Where a batch is, if `lastSeq` is where the owner's log ends. `behind`: the database has lost what it had confirmed.
 * `forked`: something is there that this owner has not written.
 */
export function whereIs({ first, last }: BatchRange, lastSeq: number): "there" | "next" | "behind" | "forked" {
  if (lastSeq === last) return "there";
  if (lastSeq === first - 1) return "next";
  return lastSeq < first ? "behind" : "forked";
}

/**
 * Classes of SQLSTATE whose refusals do not pass by themselves: a table, a right, a login, or a feature is missing, or
 * the statement is not what this server's tables expect. Somebody has to mend the database.
 */
const LASTING: readonly string[] = ["0A", "22", "23", "28", "3D", "3F", "42"];

export function isLasting(sqlstate: string): boolean {
  return LASTING.includes(sqlstate.slice(0, 2));
}

/** What a server may say that casts no doubt on a commit. Everything else does, also what we do not know. */
const HARMLESS: readonly string[] = ["NOTICE", "INFO", "LOG", "DEBUG"];

export function castsDoubt(notices: readonly { readonly severity: string }[]): boolean {
  return notices.some(({ severity }) => !HARMLESS.includes(severity));
}
