// The client of services elsewhere, against a real server on loopback.
import { afterAll, expect, test } from "bun:test";
import { isFault } from "../../src/base/fault.ts";
import { realHttpClient } from "../../src/world/real/http-client.ts";

const NEVER = new Promise<void>(() => undefined);
const asked: { readonly path: string; readonly body: string; readonly key: string | null }[] = [];
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const { pathname: path } = new URL(request.url);
    asked.push({ path, body: await request.text(), key: request.headers.get("authorization") });
    if (path === "/moved") return Response.redirect("/elsewhere");
    return new Response(pieces(path === "/stall"), {
      status: path === "/no" ? 429 : 200,
      headers: { "retry-after": "7" },
    });
  },
});
afterAll(() => server.stop(true));

function pieces(stall: boolean): ReadableStream {
  const bytes = new TextEncoder().encode("héllo");
  return new ReadableStream({
    start(sink) {
      sink.enqueue(bytes.slice(0, 2)); // In the middle of a character.
      sink.enqueue(bytes.slice(2));
      if (!stall) sink.close();
    },
  });
}

const at = (path: string) => ({
  url: `http://127.0.0.1:${server.port}${path}`,
  headers: { authorization: "k" },
  body: "{}",
});

test("an answer comes with its status and headers, and as text that no piece has cut", async () => {
  const posted = await realHttpClient().post(at("/no"), NEVER);
  expect([posted.status, posted.header("Retry-After"), posted.header("other")]).toEqual([429, "7", null]);
  expect(await Array.fromAsync(posted.text()).then((all) => all.join(""))).toBe("héllo");
  expect(asked.at(-1)).toEqual({ path: "/no", body: "{}", key: "k" });
});

test("redirects are not followed with our key", async () => {
  const { status } = await realHttpClient().post(at("/moved"), NEVER);
  expect([status, asked.at(-1)?.path]).toEqual([302, "/moved"]);
});

test("a caller that cancels its request is not kept waiting", async () => {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const posted = await realHttpClient().post(at("/stall"), stopped);
  const all = Array.fromAsync(posted.text()).catch((error: unknown) => isFault(error));
  stop();
  expect(await all).toBe(true);
});

test("a service that is not there is a Fault that names it without its query", async () => {
  const gone = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = gone;
  await gone.stop(true);
  const url = `http://127.0.0.1:${port}/v1?key=secret`;
  const error = await realHttpClient()
    .post({ url, headers: {}, body: "" }, NEVER)
    .catch((found: unknown) => found);
  expect(isFault(error)).toBe(true);
  expect(String(error)).toStartWith(`Fault: post http://127.0.0.1:${port}: `);
});
