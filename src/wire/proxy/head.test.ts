// Heads of requests: what is refused, where they lead, and what goes on.
import { expect, test } from "bun:test";
import { answerHead, bodyLength, onwardHead, parseHead, routeOf } from "./head.ts";

const head = (...lines: readonly string[]) => parseHead(lines.join("\r\n"));
const routed = (first: string) => {
  const found = head(first);
  return found && routeOf(found);
};

test("PH1 a malformed head is refused", () => {
  expect(head("GET / HTTP/1.1", "Host: a", "X:  b ")?.headers).toEqual([
    ["host", "a"],
    ["x", "b"],
  ]);
  const wrong = ["GET / HTTP/2", "get / HTTP/1.1", "GET  / HTTP/1.1", "GET /a b HTTP/1.1", "GET /\u00e9 HTTP/1.1", ""];
  for (const first of wrong) expect([first, head(first)]).toEqual([first, undefined]);
  const lines = [" folded: x", "name : x", "noname", ": x", "a: x\nb: y", "a: x\0", "a\u00e9: x"];
  for (const line of lines) expect([line, head("GET / HTTP/1.1", line)]).toEqual([line, undefined]);
  expect(head("GET / HTTP/1.1", ...Array<string>(201).fill("a: b"))).toBeUndefined();
});

test("a request leads through a tunnel, to a host without TLS, or to the service", () => {
  expect(routed("CONNECT a.org:443 HTTP/1.1")).toEqual({ kind: "tunnel", to: { host: "a.org", port: 443 } });
  expect(routed("CONNECT [::1]:22 HTTP/1.1")).toEqual({ kind: "tunnel", to: { host: "::1", port: 22 } });
  const plain = { kind: "plain", to: { host: "a.org", port: 80 } };
  expect(routed("GET http://a.org/x?y HTTP/1.1")).toEqual({ ...plain, path: "/x?y" } as never);
  expect(routed("GET http://a.org HTTP/1.1")).toEqual({ ...plain, path: "/" } as never);
  expect(routed("POST /v1/messages?a=b HTTP/1.1")).toEqual({ kind: "service", path: "/v1/messages?a=b" });
  for (const target of ["http://u:p@a.org/", "https://a.org/", "ftp://a.org/", "*", "a.org"])
    expect([target, routed(`GET ${target} HTTP/1.1`)]).toEqual([target, undefined]);
  expect(routed("CONNECT /v1 HTTP/1.1")).toBeUndefined();
});

test("PH1 a body has one length, given in digits", () => {
  const length = (...lines: readonly string[]) => {
    const found = head("POST / HTTP/1.1", ...lines);
    return found === undefined ? "malformed" : bodyLength(found);
  };
  expect(length()).toBe(0);
  expect(length("Content-Length: 12")).toBe(12);
  expect(length("Transfer-Encoding: chunked")).toBeUndefined();
  expect(length("Content-Length: 1", "Transfer-Encoding: chunked")).toBeUndefined();
  expect(length("Content-Length: 1", "Content-Length: 2")).toBeUndefined();
  for (const text of ["+1", "-1", "0x1", "1, 1", "", "1e3"]) expect(length(`Content-Length: ${text}`)).toBeUndefined();
});

test("PH2, PH3 what goes on has our identity, closes the connection, and keeps the rest", () => {
  const found = head(
    ...["POST /v1/messages HTTP/1.1", "Host: 127.0.0.1:1", "X-Api-Key: word", "Authorization: Bearer word", "A: b"],
    ...["Connection: keep-alive", "Proxy-Authorization: x", "Cookie: c", "Content-Length: 3", "Upgrade: h2c"],
  );
  if (found === undefined) throw new Error("it is a head");
  const onward = { path: "/p/v1/messages", host: "api.org" };
  expect(onwardHead(found, { ...onward, identity: { "x-api-key": "real" } })).toBe(
    "POST /p/v1/messages HTTP/1.1\r\nhost: api.org\r\na: b\r\ncontent-length: 3\r\nx-api-key: real\r\nconnection: close\r\n\r\n",
  );
  expect(onwardHead(found, { ...onward, identity: {} })).toContain("x-api-key: word\r\nauthorization: Bearer word\r\n");
});

test("an answer of our own says how long it is", () => {
  expect(answerHead("403 Forbidden", "no")).toEndWith("content-length: 13\r\nconnection: close\r\n\r\nholdfast: no\n");
});
