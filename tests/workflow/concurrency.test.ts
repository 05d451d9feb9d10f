// `concurrency` in a workflow file: one run at a time, the others queued or refused, also through crashes.
import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, Home } from "../cli/terminal-home.ts";
import { killIfThere } from "../daemon/home.ts";
import { until } from "../until.ts";

afterAll(endAll, 180_000);

/** Each run says who it is, waits for a file of its name, and notes its end. */
const FLOW = [
  "name: one",
  "concurrency: 1",
  "parameters: {me: {type: string}}",
  "steps:",
  "  - shell: 'echo begin ${me} >> said; until [ -e go-${me} ]; do sleep 0.05; done; echo end ${me} >> said'",
  "",
].join("\n");

class Flows {
  readonly home = new Home();

  constructor(text = FLOW) {
    writeFileSync(join(this.home.path, "one.yaml"), text);
  }

  async run(me: string): Promise<string> {
    return (await this.home.ok("run", "-d", "one.yaml", "--param", `me=${me}`)).trim();
  }

  go(me: string): void {
    writeFileSync(join(this.home.path, `go-${me}`), "");
  }

  get said(): string[] {
    const path = join(this.home.path, "said");
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  }

  async states(): Promise<string[]> {
    return (await this.home.json("workflows")).map(({ state }: { state: string }) => state);
  }

  until(...said: readonly string[]): Promise<unknown> {
    return until(
      said.join(", "),
      () => this.said.join() === said.join(),
      () => this.said,
    );
  }
}

test("runs of a file with concurrency: 1 begin one after the other, in their order, also after kill -9", async () => {
  const flows = new Flows();
  await flows.run("a");
  const b = await flows.run("b");
  await flows.run("c");
  await flows.until("begin a");
  expect(await flows.states()).toEqual(["running", "queued", "queued"]);
  expect(await flows.home.ok("workflows")).toMatch(/ queued$/m);
  const { daemon } = await flows.home.status();
  killIfThere(daemon.pid);
  flows.go("a");
  await flows.until("begin a", "end a", "begin b");
  expect(await flows.states()).toEqual(["done", "running", "queued"]);
  flows.go("c");
  await flows.home.ok("cancel", b);
  await flows.until("begin a", "end a", "begin b", "begin c", "end c");
  const settled = async () => (await flows.states()).join();
  await until("all are over", async () => (await settled()) === "done,cancelled,done", settled);
});

test("a run that is followed waits in the queue, and a queued one can be cancelled or interrupted", async () => {
  const flows = new Flows();
  await flows.run("a");
  await flows.until("begin a");
  const followed = flows.home.run("run", "one.yaml", "--param", "me=b");
  const second = async () => (await flows.states())[1];
  await until("it is queued", async () => (await second()) === "queued", second);
  const c = await flows.run("c");
  await flows.home.ok("cancel", c);
  expect((await flows.states())[2]).toBe("cancelled");
  flows.go("a");
  flows.go("b");
  const { code, err } = await followed;
  expect(code).toBe(0);
  expect(err).toMatch(/one is queued as [0-9a-f]{8}: it starts when the runs before it are over\./);
  expect(flows.said).toEqual(["begin a", "end a", "begin b", "end b"]);
});

test("when_busy: refuse refuses a second run with exit code 75; so is what would open a run again", async () => {
  const flows = new Flows(FLOW.replace("concurrency: 1", "concurrency: 1\nwhen_busy: refuse"));
  const a = await flows.run("a");
  await flows.until("begin a");
  const { code, out, err } = await flows.home.run("run", "-d", "one.yaml", "--param", "me=b");
  expect([code, out]).toEqual([75, ""]);
  expect(err).toContain(`one is running already (${a.slice(0, 8)}), and its file has concurrency: 1.`);
  await flows.home.ok("cancel", a);
  const over = async () => (await flows.states())[0];
  await until("it is over", async () => (await over()) === "cancelled", over);
  await flows.run("c");
  await flows.until("begin a", "begin c");
  const again = await flows.home.run("resume", "-d", "--force", a);
  expect(again.code).toBe(75);
  expect(again.err).toContain("one is running already");
  flows.go("c");
  await flows.until("begin a", "begin c", "end c");
});
