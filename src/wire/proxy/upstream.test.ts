import { expect, test } from "bun:test";
import { hopTo, statusOf, tunnelHead, upstreamOf } from "./upstream.ts";

const to = (host: string, port = 443) => ({ host, port });
const hop = (env: Record<string, string>, host = "a.org", port = 443) => hopTo(upstreamOf(env), to(host, port), true);
const via = (host: string, port: number, authorization?: string) => ({ proxy: { host, port }, authorization });

test("UP1 lower case counts first, then the scheme's own variable before that for all; an empty one is none", () => {
  expect(upstreamOf({})).toEqual({ secure: null, plain: null, direct: "" });
  const upper = { HTTPS_PROXY: "S", HTTP_PROXY: "P", ALL_PROXY: "A", NO_PROXY: "N" };
  expect(upstreamOf(upper)).toEqual({ secure: "S", plain: "P", direct: "N" });
  expect(upstreamOf({ ...upper, https_proxy: "s", http_proxy: "", no_proxy: "n" })).toEqual({
    ...{ secure: "s", plain: "P", direct: "n" },
  });
  expect(upstreamOf({ ALL_PROXY: "A" })).toEqual({ secure: "A", plain: "A", direct: "" });
  expect(hopTo(upstreamOf({ HTTP_PROXY: "p:1" }), to("a.org"), true)).toBe("direct");
  expect(hopTo(upstreamOf({ HTTP_PROXY: "p:1" }), to("a.org", 80), false)).toEqual(via("p", 1));
  expect(hopTo(undefined, to("a.org"), true)).toBe("direct");
});

test("UP5 the first environment that names a proxy counts, and nothing of the others", () => {
  const [ours, shell] = [{ HTTPS_PROXY: "me:pw@p:1" }, { https_proxy: "p:1", NO_PROXY: "a.org" }];
  expect(upstreamOf(ours, shell)).toEqual({ secure: "me:pw@p:1", plain: null, direct: "" });
  expect(upstreamOf({ NO_PROXY: "b.org" }, shell)).toEqual({ secure: "p:1", plain: null, direct: "a.org" });
});

test("UP4 the address of a proxy is read with or without a scheme, and with a user", () => {
  expect(hop({ HTTPS_PROXY: "http://Proxy.corp:3128/" })).toEqual(via("proxy.corp", 3128));
  expect(hop({ HTTPS_PROXY: "proxy.corp" })).toEqual(via("proxy.corp", 80));
  expect(hop({ HTTPS_PROXY: "http://[::1]:8080" })).toEqual(via("::1", 8080));
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`;
  expect(hop({ HTTPS_PROXY: "http://me:p%40ss:%@p:1" })).toEqual(via("p", 1, basic("me:p@ss:%")));
  expect(hop({ HTTPS_PROXY: "me:p%40ss@p:1" })).toEqual(via("p", 1, basic("me:p@ss")));
  expect(hop({ HTTPS_PROXY: "http://me:ü@p:1" })).toEqual(via("p", 1, basic("me:ü")));
  expect(tunnelHead("a.org:443", via("p", 1, "Basic x"))).toBe(
    "CONNECT a.org:443 HTTP/1.1\r\nhost: a.org:443\r\nproxy-authorization: Basic x\r\n\r\n",
  );
  expect(tunnelHead("a.org:443", via("p", 1))).not.toContain("authorization");
});

test("UP3 a proxy that cannot be used is not bypassed", () => {
  for (const address of ["socks5://p:1080", "https://p:443", "http://", "a b", "ftp://p"])
    expect([address, hop({ HTTPS_PROXY: address })]).toEqual([address, "unusable"]);
  expect(hop({ HTTPS_PROXY: "socks5://p:1080", NO_PROXY: "a.org" })).toBe("direct");
});

test("UP2 what NO_PROXY lists is reached directly, and loopback always", () => {
  const isDirect = (list: string, host: string, port = 443) =>
    hop({ HTTPS_PROXY: "p:1", NO_PROXY: list }, host, port) === "direct";
  for (const host of ["localhost", "127.0.0.1", "127.9.9.9", "::1"])
    expect([host, isDirect("", host)]).toEqual([host, true]);
  expect(isDirect("", "10.0.0.1")).toBe(false);
  expect(isDirect("*", "a.org")).toBe(true);
  for (const word of ["corp.org", ".corp.org", "*.corp.org", "x, CORP.ORG ,y", "x corp.org"])
    expect([
      word,
      isDirect(word, "git.corp.org"),
      isDirect(word, "evilcorp.org"),
      isDirect(word, "corp.org.evil"),
    ]).toEqual([...[word, true, false, false]]);
  expect(isDirect("corp.org", "corp.org")).toBe(true);
  expect([isDirect("corp.org:8080", "corp.org", 8080), isDirect("corp.org:8080", "corp.org")]).toEqual([true, false]);
  expect([isDirect("10.0.0.0/8", "10.9.9.9"), isDirect("10.0.0.0/8", "11.0.0.1")]).toEqual([true, false]);
  expect([isDirect("10.0.0.5", "10.0.0.5"), isDirect("10.0.0.5", "10.0.0.50")]).toEqual([true, false]);
  expect([isDirect("fd00::/8", "fd12::1"), isDirect("/8", "a.org"), isDirect("10.0.0.0/", "9.9.9.9")]).toEqual([
    ...[true, false, false],
  ]);
});

test("the status of an answer is read, and anything else is none", () => {
  expect(statusOf("HTTP/1.1 200 Connection established")).toBe(200);
  expect(statusOf("HTTP/1.0 407\r\nx: y")).toBe(407);
  for (const head of ["", "HTTP/2 200", "HTTP/1.1 20", "HTTP/1.1 2000 x", "SSH-2.0 200"])
    expect([head, statusOf(head)]).toEqual([head, undefined]);
});
