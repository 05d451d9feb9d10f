import { expect, test } from "bun:test";
import { hex8, putHex8, sameSecret } from "./hash.ts";

test("a secret is the same only if every character and the length are", () => {
  const secret = "0123456789abcdef";
  expect(sameSecret(secret, secret)).toBe(true);
  for (const other of ["", secret.slice(1), secret.slice(0, -1), `${secret}0`, `${secret}\0`, secret.toUpperCase()])
    expect({ other, same: sameSecret(other, secret) }).toEqual({ other, same: false });
  for (let at = 0; at < secret.length; at += 1)
    expect(sameSecret(`${secret.slice(0, at)}x${secret.slice(at + 1)}`, secret)).toBe(false);
});

test("both ways to write a sum give the same digits", () => {
  for (const sum of [0, 1, 0xdead_beef, 0xffff_ffff, -1]) {
    const digits = Buffer.alloc(10, ".");
    putHex8(sum, digits, 1);
    expect(digits.toString()).toBe(`.${hex8(sum)}.`);
  }
});
