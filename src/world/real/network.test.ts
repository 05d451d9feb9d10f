// The network, with real sockets on loopback.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { realNetwork } from "./network.ts";

const network = realNetwork();
const OPENSSL = Bun.which("openssl");

function closedPort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

test("a connection passes bytes both ways, and its end is reported once", async () => {
  const port = closedPort();
  network.listen(port, (connection) => ({
    bytes: (bytes) => {
      connection.send(bytes);
      connection.end();
    },
    closed: () => undefined,
  }));
  const [closed, heard] = [Promise.withResolvers<void>(), [] as string[]];
  const events = {
    bytes: (bytes: Uint8Array) => void heard.push(Buffer.from(bytes).toString()),
    closed: closed.resolve,
  };
  const connection = await network.connect({ address: "127.0.0.1", port, tls: undefined }, events);
  connection.send(Buffer.from("echo"));
  await closed.promise;
  expect(heard.join("")).toBe("echo");
  expect(() => network.listen(port, () => events)).toThrow(Fault);
});

test("a port without a listener, and a name that nobody has, are Faults", async () => {
  const events = { bytes: () => undefined, closed: () => undefined };
  const nobody = network.connect({ address: "127.0.0.1", port: closedPort(), tls: undefined }, events);
  expect(await nobody.catch((error: unknown) => error)).toBeInstanceOf(Fault);
  expect(await network.resolve("no.invalid").catch((error: unknown) => error)).toBeInstanceOf(Fault);
  expect(await network.resolve("127.0.0.1")).toEqual(["127.0.0.1"]);
  expect(network.own()).toContain("127.0.0.1");
});

/** A server with a certificate that nobody vouches for. */
async function withServer(use: (port: number) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "hftls-"));
  try {
    const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
    const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
    const made = [...words, "-subj", "/CN=localhost", "-keyout", key, "-out", cert];
    expect(Bun.spawnSync([OPENSSL ?? "", ...made]).exitCode).toBe(0);
    const tls = { key: Bun.file(key), cert: Bun.file(cert) };
    const server = Bun.listen({ hostname: "127.0.0.1", port: 0, tls, socket: { data: () => undefined } });
    await use(server.port);
    server.stop(true);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test.skipIf(OPENSSL === null)("NW2 a certificate that nobody vouches for is a Fault (needs openssl)", () =>
  withServer(async (port) => {
    const closes: string[] = [];
    const events = { bytes: () => undefined, closed: () => void closes.push("closed") };
    const refused = network.connect({ address: "127.0.0.1", port, tls: "localhost" }, events);
    expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(Fault);
    const open = await network.connect({ address: "127.0.0.1", port, tls: undefined }, events);
    const late = network.secure(open, "localhost", events);
    expect(await late.catch((error: unknown) => error)).toBeInstanceOf(Fault);
    expect(closes).toEqual([]);
  }),
);
