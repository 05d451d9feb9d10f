// An installed Holdfast, used as people use it: one home of its own, the command by its name.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { until } from "../until.ts";

export type Ended = { readonly code: number; readonly out: string; readonly err: string };
export type Env = Readonly<Record<string, string>>;

export function run(words: readonly string[], env: Env, cwd = "/"): Ended {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...words], { cwd, env, stdin: "ignore", stderr: "pipe" });
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
}

/** All files below a directory, and links; sorted. */
export function filesOf(directory: string): string[] {
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" }).toSorted();
  return paths.filter((path) => !lstatSync(join(directory, path)).isDirectory());
}

/** The same, with when each was last changed, and how large it is. */
export function treeOf(directory: string): string[] {
  return filesOf(directory).map((path) => {
    const { mtimeMs, size } = lstatSync(join(directory, path));
    return `${path} ${mtimeMs} ${size}`;
  });
}

const WORKFLOW = "examples/workflows/hello.yml";

/** Uses it, and leaves nothing running. */
export async function use(holdfast: string, env: Env): Promise<Record<string, unknown>> {
  const all = (...words: readonly string[]) => run([holdfast, ...words], env);
  const said = (...words: readonly string[]) => {
    const { code, out, err } = all(...words);
    if (code !== 0) throw new Error(`holdfast ${words.join(" ")}: exit code ${code}\n${out}${err}`);
    return out.trim();
  };
  try {
    said("up");
    said("new", "a", "-d", "--", "sh", "-c", "echo printed; exec sleep 1000");
    said("new", "b", "-d", "--", "sh", "-c", "echo printed");
    said("wait", "b");
    return {
      states: JSON.parse(said("ls", "--json")).map(
        (one: { name: string; state: string }) => `${one.name} ${one.state}`,
      ),
      workflow: all("run", join(ROOT, WORKFLOW)).code,
      printed: said("history", "b"),
      found: await until(
        "the line is found",
        () => all("search", "printed").code === 0,
        () => all("search", "printed"),
      ),
      page: await pageOf(said("status", "--json")),
      completed: said("__complete", "--", "kill", "").split("\n"),
      runtime: checkOf(said("doctor", "--json"), "runtime"),
    };
  } finally {
    said("down", "--kill");
  }
}

/** The page's own files are in the web host. */
async function pageOf(status: string): Promise<boolean> {
  const url = /http:\/\/127\.0\.0\.1:\d+\//.exec(status)?.[0] ?? "";
  return (await fetch(url, { redirect: "manual" })).status < 400;
}

function checkOf(json: string, wanted: string): string | undefined {
  const { checks }: { checks: { name: string; status: string }[] } = JSON.parse(json);
  return checks.find(({ name }) => name === wanted)?.status;
}

/** The programs and files that a unit names. */
export function pathsOf(unit: string): string[] {
  const lines = unit.split("\n").filter((line) => /^Exec/.test(line));
  return lines.flatMap((line) => [...line.matchAll(/":?(\/[^"]*)"/g)].map(([, path = ""]) => path));
}
