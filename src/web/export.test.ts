import { afterEach, expect, test } from "bun:test";
import { cleanUp, newHome, world } from "../../tests/web/host.ts";
import { put } from "../../tests/world/places.ts";
import { exportPage } from "./export.ts";
import { readText } from "./files.ts";

afterEach(cleanUp);

const bytes = (text: string) => ({ type: "", bytes: new TextEncoder().encode(text), gzip: new Uint8Array(), etag: "" });
const FILES = new Map([
  ["/", bytes('<meta charset="utf-8" /><meta name="nonce" content="%NONCE%" />')],
  ["/main.js", bytes("let page")],
]);
const relay = "https://laptop.relay.example.org";

test("WX1 the page names its relay, and its policy lets it connect nowhere else", async () => {
  const directory = `${newHome()}/deep/page`;
  for (const _ of [1, 2])
    expect(await exportPage(world, FILES, { directory, relay })).toEqual({ ok: true, value: undefined });
  const page = readText(world.disk, `${directory}/index.html`) ?? "";
  const nonce = /name="nonce" content="([^"%]+)"/.exec(page)?.[1];
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1]?.split("; ");
  expect(page).toContain(`<meta name="relay" content="${relay}" />`);
  expect(policy).toContain("connect-src wss://laptop.relay.example.org");
  expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`);
  expect(policy).toContain("script-src 'self'");
  expect(page.indexOf("Content-Security-Policy")).toBeLessThan(page.indexOf('"nonce"'));
  expect(readText(world.disk, `${directory}/main.js`)).toBe("let page");
  expect(readText(world.disk, `${directory}/README.txt`)).toContain("--allow-origin");
  expect(["", "/main.js"].map((name) => (world.disk.stat(`${directory}${name}`)?.mode ?? 0) & 0o777)).toEqual([
    0o755, 0o644,
  ]);
});

test("WX3 a directory with other files is left alone", async () => {
  const directory = newHome();
  put(world.disk, `${directory}/theirs`, "x");
  expect(await exportPage(world, FILES, { directory, relay })).toMatchObject({ error: { code: "not-ours" } });
  expect(world.disk.stat(`${directory}/index.html`)).toBeUndefined();
});
