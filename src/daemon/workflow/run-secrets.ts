// What programs of runs get and no disk has: variables that look like secrets, and secret parameters.
// RS1. They are kept as long as this daemon runs. The variables are then unset; a parameter is looked for in our own
//      environment, under its name, and otherwise has to be given again (`holdfast resume --param`). A step that needs
//      it is not started before.
import { secretNames } from "../../core/workflow/parameters.ts";
import type { Run } from "../../core/workflow/run.ts";

type Texts = Readonly<Record<string, string>>;
export type GivenSecrets = { readonly variables: Texts; readonly parameters: Texts };

const NONE: GivenSecrets = { variables: {}, parameters: {} };

export class RunSecrets {
  readonly #given = new Map<string, GivenSecrets>();
  readonly #environment: () => Texts;

  constructor(environment: () => Texts) {
    this.#environment = environment;
  }

  /** For a run that is about to be created. */
  set(id: string, secrets: GivenSecrets): void {
    this.#given.set(id, secrets);
  }

  /** Parameters that were given again. */
  add(id: string, parameters: Texts): void {
    const known = this.#given.get(id) ?? NONE;
    this.#given.set(id, { ...known, parameters: { ...known.parameters, ...parameters } });
  }

  forget(id: string): void {
    this.#given.delete(id);
  }

  /** The secret parameters that are not known any more. */
  lacking({ id, definition }: Run, names: readonly string[] = secretNames(definition)): readonly string[] {
    return names.filter((name) => this.#parameter(id, name) === undefined);
  }

  /** The variables of a program. `names`: secret parameters by the variables that get them. */
  variables({ id }: Run, names: Texts): Texts {
    const { variables } = this.#given.get(id) ?? NONE;
    const own = Object.entries(names).map(([name, parameter]) => [name, this.#parameter(id, parameter) ?? ""]);
    return { ...variables, ...Object.fromEntries(own) };
  }

  /** RS1 */
  #parameter(id: string, name: string): string | undefined {
    const { parameters } = this.#given.get(id) ?? NONE;
    if (Object.hasOwn(parameters, name)) return parameters[name];
    const ours = this.#environment();
    return Object.hasOwn(ours, name) ? ours[name] : undefined;
  }
}
