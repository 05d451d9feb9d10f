// Workflow files, runs and checkpoints as the web host answers about them: real files, and a daemon that is simulated.
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanUp, daemon, host, newHome, WELL } from "../../tests/web/host.ts";

afterEach(cleanUp);

const FILE = `name: release
parameters:
  version: { required: true }
  publish: { type: boolean, default: false, description: "to the registry" }
  tags: { type: list, default: [a, b] }
  TOKEN: { secret: true }
steps:
  - shell: echo \${version} \${TOKEN}
`;

test("a workflow file becomes a form: types, defaults, what is required, and which are secret", async () => {
  const { home, tab } = await host();
  const path = join(home, "release.yml");
  writeFileSync(path, FILE);
  const page = await tab();
  const found = await page.call("web.workflow", { path });
  const plain = { isRequired: false, isSecret: false, isKnown: false, initial: null, says: "" };
  expect(found).toEqual({
    ok: true,
    value: {
      ...{ path, name: "release", mode: "standard", steps: 1 },
      parameters: [
        { ...plain, name: "version", type: "string", isRequired: true },
        { ...plain, name: "publish", type: "boolean", initial: "false", says: "to the registry" },
        { ...plain, name: "tags", type: "list", initial: '["a","b"]' },
        { ...plain, name: "TOKEN", type: "string", isRequired: true, isSecret: true },
      ],
    },
  });
});

test("WW1 what is no workflow file is refused: other kinds of files, relative paths, and files with errors", async () => {
  const { home, tab } = await host();
  const path = join(home, "broken.yml");
  writeFileSync(path, "steps:\n  - shel: echo\n");
  const page = await tab();
  const codes = [];
  for (const one of ["/dev/zero", home, join(home, "none.yml"), "release.yml", path, `/${"x".repeat(5000)}`]) {
    const asked = await page.call("web.workflow", { path: one });
    codes.push(asked.ok ? "fine" : asked.error.code);
  }
  expect(codes).toEqual(["unknown", "unknown", "unknown", "bad-params", "bad-workflow", "bad-params"]);
});

test("WW3 a run is started in the directory of its file, with the host's environment and the parameters as texts", async () => {
  const home = newHome();
  const run = { id: "982a3a029e274a19aa6423bacd9fdadb", name: "release" };
  const { seen } = await daemon(home, { ...WELL, "workflow.run": run });
  const { tab } = await host(home);
  const path = join(home, "release.yml");
  writeFileSync(path, FILE);
  const page = await tab();
  const wish = { id: run.id, path, cwd: "", texts: { version: "1.0" }, worktree: false };
  expect(await page.call("web.run", wish)).toEqual({ ok: true, value: run });
  const asked = JSON.parse(seen.find((one) => one.startsWith("workflow.run "))?.slice("workflow.run ".length) ?? "{}");
  expect(asked).toMatchObject({ ...wish, cwd: home, values: {}, env: { TERM: "dumb", PATH: process.env["PATH"] } });
  const wrong = [{ cwd: `${home}/nowhere` }, { path: `${home}/none.yml` }, { id: "short" }, { texts: { version: 1 } }];
  for (const one of wrong) expect([one, (await page.call("web.run", { ...wish, ...one })).ok]).toEqual([one, false]);
  expect(seen.filter((one) => one.startsWith("workflow.run ")).length).toBe(1);
});

test("checkpoints of a run that has none, and names that lead elsewhere", async () => {
  const { tab } = await host();
  const page = await tab();
  const run = "a".repeat(32);
  expect(await page.call("web.checkpoints", { repo: "shop", run })).toEqual({
    ok: true,
    value: { checkpoints: [], bad: 0 },
  });
  for (const repo of ["../state/shop", "", "a/b"])
    expect((await page.call("web.checkpoints", { repo, run })).ok).toBe(false);
});
