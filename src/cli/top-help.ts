// What `holdfast --help` prints: the commands, in groups.

export type Group = "Terminals" | "Workflows" | "Agents" | "Recovery" | "System";

/** In this order. */
const GROUPS: readonly Group[] = ["Terminals", "Workflows", "Agents", "Recovery", "System"];

type About = { readonly name: string; readonly description: string };

/** The commands by name, the group of each, and what holds for all of them. */
type Commands = {
  readonly routes: Readonly<Record<string, { readonly brief: string }>>;
  readonly groups: Readonly<Record<string, Group | undefined>>;
  readonly facts: readonly string[];
};

export function topHelp({ name, description }: About, { routes, groups, facts }: Commands): string {
  const shown = Object.keys(groups).filter((command) => groups[command] !== undefined);
  const width = Math.max(...shown.map((command) => command.length));
  const line = (command: string) => `  ${command.padEnd(width)}  ${routes[command]?.brief ?? ""}`;
  const lists = GROUPS.flatMap((group) => [
    group,
    ...shown.filter((command) => groups[command] === group).map(line),
    "",
  ]);
  return [
    `${description}.`,
    "",
    `Usage: ${name} COMMAND …`,
    `       ${name} help COMMAND    shows its flags and arguments; so does ${name} COMMAND --help`,
    `       ${name} --version       shows the version`,
    "",
    ...lists,
    ...facts,
    "",
  ].join("\n");
}
