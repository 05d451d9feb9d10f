// `holdfast answer` whose acknowledgement is lost: the daemon has the answer on disk, and dies before it could reply.
import { afterAll, expect, test } from "bun:test";
import { readFileSync, renameSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { rejects } from "../cli/expect.ts";
import { endAll, Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { ACTOR } from "./agent-home.ts";

afterAll(endAll);

/**
 * A proxy between commands and daemon. It withholds the daemon's first acknowledgement of an answer and kills the
 * daemon.
 */
function loseAcknowledgement(home: Home, daemon: number): Promise<string> {
  const [door, behind] = [join(home.path, "run/daemon.sock"), join(home.path, "run/behind.sock")];
  renameSync(door, behind);
  return new Promise((resolve) => {
    const server = createServer((client) => {
      let isAnswer = false;
      const line = connect(behind);
      client.on("data", (bytes) => {
        isAnswer ||= bytes.includes('"prompt.answer"');
        line.write(bytes);
      });
      line.on("data", (bytes) => {
        if (!isAnswer) return void client.write(bytes);
        process.kill(daemon, "SIGKILL");
        for (const end of [line, client, server.close()]) end.unref();
        client.destroy();
        resolve(String(bytes));
      });
      for (const end of [line, client]) end.on("error", () => end.destroy());
      client.on("close", () => line.destroy());
    });
    server.listen(door);
  });
}

test("PR-3(d) the daemon is killed after an answer is durable and before it is acknowledged: the same command is acknowledged, and no other", async () => {
  const home = new Home();
  const done = join(home.path, "done");
  const id = (await home.ok("agent", "new", "alpha", "--provider", "scripted", "--", ...ACTOR)).trim();
  await home.ok("agent", "send", "alpha", `>> ask Bash rm\n>> append ${done} went on\n>> ask Bash more`);
  const asked = await until(
    "it asks",
    async () => (await home.json("prompts"))[0],
    async () => (await home.json("prompts"))[0],
  );
  const lost = loseAcknowledgement(home, (await home.status()).daemon.pid);
  const answer = home.run("answer", asked.id, "allow", "--json");
  expect(JSON.parse(await lost)).toMatchObject({ result: { id: asked.id, state: "answered" } });
  const { code, out } = await answer;
  expect([code, JSON.parse(out).id]).toEqual([0, asked.id]);
  await until(
    "it asks for more",
    async () => (await home.json("prompts"))[0]?.input.command === "more",
    async () => (await home.json("prompts"))[0]?.input.command,
  );
  expect(readFileSync(done, "utf8")).toBe("went on\n");
  rejects(await home.run("answer", asked.id, "allow"), 5, "is already answered: allow by user at 20");
  const answers: { event: string; data: { answer_id: string } }[] = await home.json("agent", "log", id, "-n", "999");
  const given = answers.filter(({ event }) => event === "prompt.answered").map(({ data }) => data.answer_id);
  expect(given).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
});
