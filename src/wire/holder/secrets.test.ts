import { expect, test } from "bun:test";
import { ENTRUSTED, entrusted, setSecrets } from "./secrets.ts";
import { holderStart } from "./start.ts";

test("secrets arrive unchanged, whatever their names", () => {
  const secrets = JSON.parse('{"A_KEY":"x=\\"y\\"\\n","__proto__":"z"}');
  expect(entrusted(setSecrets(secrets)[ENTRUSTED])).toEqual(secrets);
  expect(setSecrets({})).toEqual({});
});

test.each([undefined, "", "[]", "3", '{"A":1}', "{"])("%j gives no variables", (text) => {
  expect(entrusted(text)).toEqual({});
});

test("a holder gets the marks of a drill and the secrets, and nothing else of the starting process", () => {
  const ours = { PATH: "/bin", HOLDFAST_BOOT_ID: "b", HOLDFAST_DRILL: "/d" };
  const { env } = holderStart("/bun", "/main.ts", "/t", { ours, secrets: { A_KEY: "x" } });
  expect(env).toMatchObject({ HOLDFAST_BOOT_ID: "b", HOLDFAST_DRILL: "/d" });
  expect(entrusted(env[ENTRUSTED])).toEqual({ A_KEY: "x" });
  expect(env).not.toHaveProperty("PATH");
});
