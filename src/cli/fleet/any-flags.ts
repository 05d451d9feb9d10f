// The flags of work that any host of the fleet may do (any.ts).
import { flag, text } from "../flags.ts";

export type AnyFlags = { readonly any?: boolean; readonly label?: readonly string[] };

export const anyFlags = {
  any: flag(
    "Let any host of the fleet do it, and print its id. Paths, repositories, variables and secrets of this host do not travel",
  ),
  label: {
    kind: "parsed",
    parse: text,
    variadic: true,
    optional: true,
    placeholder: "label",
    brief: "With --any: only a host that has this label. May be repeated",
  },
} as const;
