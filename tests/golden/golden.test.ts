// A home that an earlier version left when its power was cut is opened by this tree's product, and everything that was
// in it goes on.
import { afterEach, expect, test } from "bun:test";
import { becomes, details, firstLook, lists, settle } from "./look.ts";
import { expectedOf, Opened, VERSIONS } from "./opened.ts";
import type { Product } from "./product.ts";

type Named = { readonly name: string; readonly state: string };
const started: Product[] = [];
let opened: Opened | undefined;

afterEach(async () => {
  for (const product of started.splice(0)) await product.powerCut();
  opened?.remove();
});

/** The product in the next boot of the machine. */
async function boot(home: Opened): Promise<Product> {
  const product = home.boot();
  started.push(product);
  await product.ok(["up"]);
  return product;
}

/** What waits for a person, at the hands of one. */
async function goOn(product: Product): Promise<void> {
  for (const { id } of await product.json("prompts")) await product.ok(["answer", id, "allow"]);
  await product.ok(["resume", "uncertain", "--done"]);
  await product.ok(["resume", "back"]);
  await product.ok(["resume", "held", "--rerun", "--detach"]);
  await product.ok(["restore", "lonely"]);
  await product.ok(["agent", "ask", "kid", "hello again"]);
  await product.ok(["agent", "ask", "lead", "GIT once more"]); // A rule for all decides, and nobody is asked.
  await product.ok(["agent", "ask", "worker", "ASK once more"]); // So does one of its own.
  await product.ok(["agent", "retry", "held"]);
  await product.shows('"name":"held"', "prompts", "--json");
  await product.shows('"turns":2', "agent", "inspect", "asker", "--json");
  await product.shows('"said":"Removed."', "checkpoints", "show", "asks", "--json");
}

function states(rows: readonly Named[]): Record<string, string> {
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
}

/** What came of it. */
async function came(product: Product) {
  const prompts: Named[] = await product.json("prompts");
  return {
    runs: states(await product.json("workflows")),
    terminals: states(await product.json("ls")),
    prompts: prompts.map(({ name }) => name),
    last: (await product.json("checkpoints", "show", "uncertain")).variables.last,
    unread: (await product.json("agent", "inbox", "asker")).length,
    whole: (await product.json("log", "verify")).whole,
  };
}

const CLAIM = "a home of %s is opened: nothing is lost or set aside, and all of it goes on, also in a second life";

test.each(VERSIONS)(CLAIM, async (version) => {
  const expected = expectedOf(version);
  opened = new Opened(version, expected.left);
  const first = await boot(opened);
  await settle(first);
  await becomes("the first life is as expected", () => firstLook(first), expected.first);
  await becomes("it lists what was there", () => lists(first, expected.left), expected.lists);
  expect(await details(first, expected.left)).toMatchObject(expected.details); // LK3
  await first.powerCut();

  const second = await boot(opened);
  await settle(second);
  await becomes("the second life lists the same", () => lists(second, expected.left), expected.lists);
  await goOn(second);
  await second.ok(["down"]);
  await second.ok(["up"]); // In the same boot: what runs has run on.
  expect(await came(second)).toEqual({
    runs: { ...states(expected.lists.runs), back: "done", uncertain: "done", asks: "done", held: "running" },
    terminals: { ...states(expected.lists.terminals), lonely: "running" },
    prompts: ["held"],
    last: "after before",
    unread: 0,
    whole: true,
  });
});
