// What a target replied to a notification.

export type Reply =
  | { readonly kind: "accepted" }
  /** It was not shown: try again. */
  | { readonly kind: "refused"; readonly why: string; readonly retryAfterMs?: number }
  /** It may have been shown: try again. */
  | { readonly kind: "lost"; readonly why: string }
  /** It never will be again. */
  | { readonly kind: "gone"; readonly why: string };
