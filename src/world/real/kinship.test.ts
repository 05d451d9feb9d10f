import { expect, test } from "bun:test";
import { unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../tests/until.ts";
import type { Connection } from "../socket.ts";
import { deviceOf, realKinship } from "./kinship.ts";
import { peerOf } from "./peer.ts";
import { realSockets } from "./socket.ts";

const kinship = realKinship();

test("a process has a parent, a start time, arguments and an executable; one that is gone has nothing", async () => {
  const child = Bun.spawn(["/bin/sleep", "60"], { stdio: ["ignore", "ignore", "ignore"] });
  const argv = () => kinship.kin(child.pid)?.argv; // It is empty for a moment while the kernel executes the program.
  await until("it has its arguments", () => (argv() ?? []).length > 0, argv);
  expect(kinship.kin(child.pid)).toMatchObject({ pid: child.pid, ppid: process.pid, argv: ["/bin/sleep", "60"] });
  expect(kinship.kin(child.pid)?.startTime).toBe(kinship.startTime(child.pid));
  expect(kinship.executable(child.pid)).toMatch(/\/(?:sleep|coreutils|busybox)$/);
  child.kill("SIGKILL");
  await child.exited;
  expect([kinship.kin(child.pid), kinship.executable(child.pid)]).toEqual([undefined, null]);
  expect(kinship.kin(1)?.ppid).toBe(0);
  expect(kinship.parent()).toBe(kinship.kin(process.pid)?.ppid ?? -1);
});

test("the number of a terminal's device is its path", () => {
  expect([0, 0x8803, 0x89ff, 0x0401].map(deviceOf)).toEqual([null, "/dev/pts/3", "/dev/pts/511", "/dev/tty1"]);
  expect(deviceOf(0x0305)).toBe("3:5");
});

test("K3 an accepted connection tells the pid of its client, until that ends", async () => {
  const path = join(tmpdir(), `peer-${process.pid}.sock`);
  const accepted: Connection[] = [];
  const nothing = { bytes: () => undefined, closed: () => undefined };
  const listener = await realSockets().listen(path, (connection) => {
    accepted.push(connection);
    return nothing;
  });
  const script = `await Bun.connect({ unix: ${JSON.stringify(path)}, socket: { data() {} } });`;
  const client = Bun.spawn([process.execPath, "-e", script], { stdio: ["ignore", "ignore", "inherit"] });
  const connected = await until(
    "it has connected",
    () => accepted[0],
    () => accepted.length,
  );
  expect(connected.peer?.()).toBe(client.pid);
  client.kill("SIGKILL");
  await client.exited;
  expect(connected.peer?.()).toBe("gone");
  listener.close();
  expect(() => unlinkSync(path)).toThrow();
});

test("PC1 a process that is younger than the connection is not its client", async () => {
  const path = join(tmpdir(), `young-${process.pid}.sock`);
  const fds: number[] = [];
  const server = Bun.listen({
    unix: path,
    socket: { open: (socket) => void fds.push((socket as unknown as { fd: number }).fd), data: () => undefined },
  });
  const client = await Bun.connect({ unix: path, socket: { data: () => undefined } });
  const fd = await until(
    "it is accepted",
    () => fds[0],
    () => fds.length,
  );
  expect(peerOf(fd, 0)).toBe(process.pid);
  const lifeMs = performance.now() + 60_000; // Longer than we have lived.
  expect(peerOf(fd, lifeMs)).toBe("gone");
  expect(peerOf(99_999, 0)).toBeUndefined(); // PC2
  client.end();
  server.stop(true);
});
