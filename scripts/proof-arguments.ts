// The arguments of `npm run proof`: names of parts (none means all), and flags.
import type { Part } from "./proof-parts.ts";

export type Wish =
  | { readonly kind: "run"; readonly parts: readonly Part[]; readonly again: boolean; readonly minutes: number }
  /** `page`: only write the table anew, after the parts were changed. */
  | { readonly kind: "list" | "page" }
  | { readonly kind: "wrong"; readonly message: string };

const USAGE = "usage: npm run proof [-- part…] [--list] [--again] [--minutes N] [--page]";

export function readWish(args: readonly string[], all: readonly Part[]): Wish {
  if (args.includes("--list")) return { kind: "list" };
  if (args.includes("--page")) return { kind: "page" };
  const names: string[] = [];
  let again = false;
  let minutes = Number.POSITIVE_INFINITY;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    if (word === "--again") again = true;
    else if (word === "--minutes") {
      at += 1;
      minutes = Number(args[at]);
    } else names.push(word);
  }
  const unknown = names.find((name) => !all.some((part) => part.name === name));
  const isTime = minutes > 0; // Not for NaN either.
  if (unknown !== undefined) return wrong(`There is no part or flag ${unknown}.`, all);
  if (!isTime) return wrong("--minutes needs a number above 0.", all);
  const parts = names.length === 0 ? all : all.filter((part) => names.includes(part.name));
  return { kind: "run", parts, again, minutes };
}

function wrong(message: string, all: readonly Part[]): Wish {
  return { kind: "wrong", message: `${message}\n${USAGE}\nparts: ${all.map((part) => part.name).join(", ")}` };
}
