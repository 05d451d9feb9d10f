// Where the page of a home on another host is.
import { expect, test } from "bun:test";
import { pageAddress } from "./page-address.ts";

test("the name of the home takes its place in the address, in a path or as part of a host's name", () => {
  expect(pageAddress("https://pages.example.org/{home}/", "web1-work")).toBe("https://pages.example.org/web1-work/");
  expect(pageAddress("https://{home}.example.org", "web1-work")).toBe("https://web1-work.example.org/");
  expect(pageAddress("http://10.0.0.5:7000", "any")).toBe("http://10.0.0.5:7000/");
});

test("PA1 what is no address on the web, or has a login, leads nowhere, and no name leads elsewhere", () => {
  const wrong = [
    "",
    "web1",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc",
    "https://a@b/",
    "https://a:b@c/",
  ];
  for (const announced of [...wrong, `https://a/${"x".repeat(2_000)}`])
    expect(pageAddress(announced, "work")).toBeUndefined();
  const hosts = ["a/b", "evil.test#", "a@evil.test", "evil.test/?", "evil.test\\", "..", "%2f"].map(
    (home) => URL.parse(pageAddress("https://{home}.example.org/{home}", home) ?? "")?.hostname ?? "none",
  );
  for (const host of hosts) expect(host === "none" || host.endsWith(".example.org")).toBe(true);
});
