import { expect, test } from "bun:test";
import { signInOf } from "./sign-in.ts";

test("SI2 a link is kept while the daemon is down, and given up if it is wrong", () => {
  expect(signInOf(200, '{"id":"a","token":"t"}')).toEqual({ kind: "signed in", token: "t" });
  const refusal = (code: string) => JSON.stringify({ code, message: "No.", hint: "" });
  expect(signInOf(409, refusal("no-link"))).toEqual({ kind: "refused", why: "No." });
  for (const code of ["daemon.down", "daemon.slow", "daemon.gone"])
    expect(signInOf(409, refusal(code)).kind).toBe("not yet");
  expect(signInOf(429, "Too many.\n")).toEqual({ kind: "not yet", why: "Too many." });
  expect(signInOf(403, "No.").kind).toBe("refused");
  expect(signInOf(200, "<html>").kind).toBe("refused");
});
