// A home with workflow files, for the tests of the workflow commands.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Home } from "../cli/terminal-home.ts";

export const MINUTE = 60_000;

export function place() {
  const home = new Home();
  const file = (name: string) => join(home.path, name);
  const write = (name: string, ...lines: readonly string[]) => writeFileSync(file(name), `${lines.join("\n")}\n`);
  const text = (name: string) => (existsSync(file(name)) ? readFileSync(file(name), "utf8") : "");
  /** The directory of a run. */
  const session = (id: string) => {
    const repo = readdirSync(file("state")).find((name) => existsSync(file(`state/${name}/sessions/${id}`)));
    return file(`state/${repo}/sessions/${id}`);
  };
  return { home, write, text, file, session };
}
