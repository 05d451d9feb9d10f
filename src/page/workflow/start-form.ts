// The form that starts a run, made of the parameters of its workflow.
// SF1. What is left as it was is not sent: the workflow's own default counts, also one that has changed meanwhile.
// SF2. A secret is typed into a field that shows nothing, and has no suggestion and no default.
import type { FormParameter } from "../../wire/page/messages.ts";
import type { Field } from "../parts/form.tsx";

type Values = Readonly<Record<string, string>>;

/** Fields of the form beside those of parameters have names that no parameter can have. */
export const CWD = "/cwd";
export const PLACE = "/place";
export const IN_WORKTREE = "in a git worktree of its own";
const PLACES = ["in the directory itself", IN_WORKTREE];

const HINTS: Readonly<Record<FormParameter["type"], string>> = {
  ...{ string: "", number: "a number", boolean: "" },
  ...{ list: 'a list, as JSON: ["a", "b"]', object: 'names and values, as JSON: {"a": 1}' },
};

export function startFields(parameters: readonly FormParameter[], directory: string): Field[] {
  return [
    ...parameters.map(fieldOf),
    { name: CWD, label: "Directory", value: directory, hint: "where its steps run" },
    { name: PLACE, label: "Steps run", value: "", choices: PLACES },
  ];
}

function fieldOf(parameter: FormParameter): Field {
  const { name, type, isRequired, isSecret, isKnown, initial } = parameter;
  const said = [parameter.says, HINTS[type], isSecret ? secretHint(isKnown) : ""].filter((text) => text !== "");
  const isChoice = type === "boolean" && !isSecret;
  return {
    name,
    label: `${name}${isRequired ? "" : " (optional)"}`,
    value: initial ?? "",
    isOptional: !isRequired,
    ...(said.length > 0 && { hint: said.join("; ") }),
    ...(isChoice && { choices: initial === null && !isRequired ? ["", "true", "false"] : ["true", "false"] }),
    ...(isSecret && { type: "password" as const }), // SF2
    ...((type === "list" || type === "object") && { isLong: true }),
  };
}

function secretHint(isKnown: boolean): string {
  return isKnown ? "secret; Holdfast's own environment has it, if this is empty" : "secret; it is stored nowhere";
}

/** SF1 */
export function textsOf(parameters: readonly FormParameter[], values: Values): Values {
  const given = parameters.flatMap(({ name, type, isSecret, initial }): [string, string][] => {
    const text = values[name] ?? "";
    const isLeft = text === (initial ?? "") || (text === "" && (type !== "string" || isSecret));
    return isLeft ? [] : [[name, text]];
  });
  return Object.fromEntries(given);
}
