import { expect, test } from "bun:test";
import { type Command, run } from "@stricli/core";
import { appFor } from "./app.ts";
import type { Chosen, Context } from "./command-world.ts";
import { divided } from "./divided.ts";
import { plainly, type Said, saidBy } from "./plain.ts";

/** What stricli gives to the command; undefined if it gives it nothing. */
async function saidByStricli(argv: readonly string[]): Promise<Said | undefined> {
  let said: Said | undefined;
  const app = await appFor(argv[0]);
  const command = app.root as unknown as { getRoutingTargetForInput(name: string): Command<Context> };
  const target = command.getRoutingTargetForInput(argv[0] ?? "");
  const loader =
    async () =>
    (flags: Said["flags"], ...args: string[]) => {
      said = { flags, args };
    };
  const root = { ...app.root, getRoutingTargetForInput: () => ({ ...target, loader }) } as typeof app.root;
  const process = { stdout: { write: () => undefined }, stderr: { write: () => undefined } };
  await run({ ...app, root }, [...divided(argv).before], { process });
  return said;
}

const PLAIN = [
  ...["ls", "ls --json", "ls --home /h --lane a", "ls --lane a --json", "attach", "attach t", "attach -r t"],
  ...["attach t --read-only --home h", "attach --create t --cwd /d --lane l", "attach -c t -- sh", "new", "new t"],
  ...["new -d t -- sleep 1", "new --detach --lane l --cwd . t", "new t -d --json -- ls --json -x", "new -- sh"],
  ...["new t --", "ls --home ls", "attach a=b", "new json", "ls --lane=a --home=/h", "new --cwd=a=b -d t"],
];

/** Help, mistakes, rare flags, and other ways to say the same. */
const OTHERS = [
  ...["", "lss", "send t x", "ls --help", "ls -h", "ls x", "ls --", "ls --nope", "ls --lane", "ls --lane --json"],
  ...[
    "ls --lane=",
    "ls --lane=-a",
    "ls --nope=a",
    "ls --json=true",
    "ls --json --json",
    "ls --lane a --lane b",
    "ls --lane -x",
    "attach -rc t",
    "attach a b",
  ],
  ...["attach --readOnly t", "attach --size 80x24 t", "attach -1", "new -d -d t", "new --restore ask t", "new -x"],
  ...["new --detach=true t", "new - t", "--json ls"],
];

const words = (line: string) => line.split(" ").filter((word) => word !== "");

test("PL1 a plain command line means the same as to stricli", async () => {
  for (const line of PLAIN) {
    const said = saidBy(words(line));
    expect({ line, said }).toEqual({ line, said: await saidByStricli(words(line)) });
    expect(said).toBeDefined();
  }
});

test("PL1 everything else is left to stricli", async () => {
  for (const line of OTHERS) expect(await plainly(words(line))).toBeUndefined();
  for (const argv of [
    ["new", ""],
    ["ls", "--home", ""],
    ["attach", "-d"],
  ])
    expect(saidBy(argv)).toBeUndefined();
});

test("the words after -- reach the command as they are", async () => {
  const chosen = await plainly(["new", "-d", "t", "--", "sh", "-c", "ls -- x"]);
  const words: Chosen["words"] = chosen?.ok === true ? chosen.value.words : undefined;
  expect(words).toEqual(["sh", "-c", "ls -- x"]);
});
