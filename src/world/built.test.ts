// What a holder's bundle looks like.
import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { HOLDER_BUNDLE, PROGRAMS, withoutPrivateNames } from "./built.ts";

const PRIVATE = /#[A-Za-z_$]/;

test("the holders' bundles have no private names, and none of their names is taken twice", async () => {
  for (const kind of ["holder", "orders"] as const) {
    const entry = resolve(import.meta.dir, "../..", PROGRAMS[kind]);
    const built = await Bun.build({ entrypoints: [entry], ...HOLDER_BUNDLE });
    const text = (await built.outputs[0]?.text()) ?? "";
    const smaller = withoutPrivateNames(text);
    expect([PRIVATE.test(text), PRIVATE.test(smaller)]).toEqual([true, false]);
    expect(/(?<!\.)\.\$[\w$]/.test(text)).toBe(false); // A public name like those that the private ones get.
    expect(() => new Bun.Transpiler({ loader: "js" }).scan(smaller)).not.toThrow();
  }
});

test("what may not be a private name, or may be one of a superclass, stays, and all else with it", () => {
  for (const text of ['class A{#a;b="#c"}', "class A{#a;b=/x#c/}", "class B extends A{#a}", "class A{#a;b=`${1} #c`}"])
    expect(withoutPrivateNames(text)).toBe(text);
  const all = "class A extends Error{#a=1;async#b(){await this.#a}get#c(){return 1}static#d(){}async*#e(){}}";
  const none = "class A extends Error{$a=1;async $b(){await this.$a}get $c(){return 1}static $d(){}async*$e(){}}";
  expect(withoutPrivateNames(all)).toBe(none);
});
