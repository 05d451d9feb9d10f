// Which addresses are those of other machines on the internet.
import { expect, test } from "bun:test";
import { addressBytes, isPublic } from "./address.ts";

test("addresses are read in their usual forms, and nothing else is one", () => {
  expect(addressBytes("127.0.0.1")).toEqual([127, 0, 0, 1]);
  expect(addressBytes("::1")).toEqual([...Array(15).fill(0), 1]);
  expect(addressBytes("::ffff:10.0.0.1")).toEqual([...Array(10).fill(0), 255, 255, 10, 0, 0, 1]);
  expect(addressBytes("1:2:3:4:5:6:7:8")).toHaveLength(16);
  const wrong = ["", "localhost", "127.1", "256.0.0.1", "1.2.3.4.5", "::1::", "1:2:3", "g::", "1:2:3:4:5:6:7:8:9"];
  for (const text of [...wrong, "fe80::1%eth0", "1:2:3:4:5:6:7:8::"])
    expect([text, addressBytes(text)]).toEqual([text, undefined]);
});

test("AD1 loopback, private, link-local and embedded addresses are not public", () => {
  const near = ["127.0.0.1", "0.0.0.0", "10.1.2.3", "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.127.0.1"];
  const odd = [
    "255.255.255.255",
    "224.0.0.1",
    "::",
    "::1",
    "fe80::1",
    "fc00::1",
    "fd12::1",
    "ff02::1",
    "::ffff:8.8.8.8",
  ];
  for (const text of [...near, ...odd, "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:1::", "nothing"])
    expect([text, isPublic(text)]).toEqual([text, false]);
  for (const text of ["8.8.8.8", "172.32.0.1", "100.128.0.1", "11.0.0.1", "2606:4700::1111", "2a00:1450:4001::1"])
    expect([text, isPublic(text)]).toEqual([text, true]);
});
