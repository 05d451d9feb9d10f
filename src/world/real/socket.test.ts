// Tests of the real sockets: a path is taken over from a dead process, never from a living one.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Connection, ConnectionEvents } from "../socket.ts";
import { realSockets } from "./socket.ts";

const sockets = realSockets();
const home = mkdtempSync(join(tmpdir(), "hf-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

let last = 0;
function newPath(): string {
  last += 1;
  return join(home, `s${last}`);
}

const silent: ConnectionEvents = { bytes: () => undefined, closed: () => undefined };
const echo = (connection: Connection): ConnectionEvents => ({ ...silent, bytes: (bytes) => connection.send(bytes) });

/** The reply to what is sent. */
async function ask(path: string, words: string): Promise<string> {
  const answer = Promise.withResolvers<string>();
  const bytes = (found: Uint8Array) => answer.resolve(Buffer.from(found).toString());
  const connection = await sockets.connect(path, { ...silent, bytes });
  connection.send(Buffer.from(words));
  const found = await answer.promise;
  connection.destroy();
  return found;
}

test("a listening socket belongs to its owner alone, answers, and leaves nothing behind", async () => {
  const path = newPath();
  const listener = await sockets.listen(path, echo);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await ask(path, "hello")).toBe("hello");
  listener.close();
  listener.close();
  expect(readdirSync(home)).toEqual([]);
});

test("a path that answers is not taken over; one that does not is", async () => {
  const path = newPath();
  writeFileSync(path, "left behind");
  const listener = await sockets.listen(path, echo);
  expect(sockets.listen(path, echo)).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(await ask(path, "still mine")).toBe("still mine");
  expect(readdirSync(home)).toEqual([path.slice(home.length + 1)]);
  listener.close();
});

test("if many race for a path, exactly one gets it", async () => {
  const path = newPath();
  const tries = await Promise.allSettled([1, 2, 3, 4, 5].map(() => sockets.listen(path, echo)));
  const won = tries.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  expect(won.map((listener) => listener.inPlace())).toEqual([true]);
  for (const listener of won) listener.close();
});

test("a displaced listener notices it, and does not remove its successor's path", async () => {
  const path = newPath();
  const first = await sockets.listen(path, echo);
  unlinkSync(path);
  expect(first.inPlace()).toBe(false);
  const second = await sockets.listen(path, echo);
  first.close();
  expect([first.inPlace(), second.inPlace(), existsSync(path)]).toEqual([false, true, true]);
  expect(await ask(path, "successor")).toBe("successor");
  second.close();
});

test("a missing listener is a Fault, and so is a path that is too long", async () => {
  expect(sockets.connect(newPath(), silent)).rejects.toMatchObject({ code: "ENOENT" });
  const left = newPath();
  writeFileSync(left, "");
  expect(sockets.connect(left, silent)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  const long = join(home, "x".repeat(108 - home.length));
  expect(sockets.listen(long, echo)).rejects.toMatchObject({ code: "ENAMETOOLONG" });
  expect(sockets.connect(long, silent)).rejects.toMatchObject({ code: "ENAMETOOLONG" });
  await sockets.connect(left, silent).catch(() => undefined); // All four have been answered by now.
});

test("what the other side does not read is queued in order, and `drained` follows", async () => {
  const path = newPath();
  let served: Connection | undefined;
  const drained = Promise.withResolvers<void>();
  const listener = await sockets.listen(path, (connection) => {
    served = connection;
    return { ...silent, drained: () => drained.resolve() };
  });
  let heard = Buffer.alloc(0);
  const all = Promise.withResolvers<void>();
  const client = await sockets.connect(path, {
    bytes: (bytes) => {
      heard = Buffer.concat([heard, bytes]);
    },
    closed: () => all.resolve(),
  });
  client.pause();
  const scratch = new Uint8Array(100_000);
  for (let at = 0; at < 20; at += 1) served?.send(scratch.fill(at)); // One buffer, reused again and again.
  expect(served?.waiting).toBeGreaterThan(1_000_000);
  client.resume();
  await drained.promise;
  served?.end();
  await all.promise;
  expect(heard.length).toBe(2_000_000);
  for (let at = 0; at < 20; at += 1) expect(heard[at * 100_000 + 50_000]).toBe(at);
  listener.close();
});
