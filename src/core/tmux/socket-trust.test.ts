import { expect, test } from "bun:test";
import { type SocketStep, whyForeign } from "./socket-trust.ts";

const step = (kind: SocketStep["kind"], uid: number, mode: number): SocketStep => ({ path: "/p", kind, uid, mode });
const US = 1000;
const tmp = step("directory", 0, 0o1777);
const own = step("directory", US, 0o700);
const socket = step("socket", US, 0o700);

test.each<[string, SocketStep[], boolean]>([
  ["tmux's own place", [tmp, own, socket], true],
  ["a socket in /tmp", [tmp, socket], true],
  ["no socket yet", [tmp, own], true],
  ["nothing at all", [], true],
  ["our link", [step("link", US, 0o777), own, socket], true],
  ["a socket for our group", [own, step("socket", US, 0o770)], true],
  ["another's socket", [tmp, step("socket", 1001, 0o700)], false],
  ["root's socket", [tmp, step("socket", 0, 0o700)], false],
  ["a socket for everybody", [own, step("socket", US, 0o777)], false],
  ["another's directory", [step("directory", 1001, 0o755), socket], false],
  ["a directory for everybody", [step("directory", US, 0o777), socket], false],
  ["another's link", [step("link", 1001, 0o777), own, socket], false],
  ["a file", [own, step("other", US, 0o600)], false],
])("TR1 TR2 %s", (_, steps, trusted) => {
  expect(whyForeign(steps, US) === undefined).toBe(trusted);
});
