// The configuration for people: all settings with their origin, and the reference of all that there are.
// S1. What `showConfig` prints is TOML that can be saved and read again to the same settings, except for S2.
// S2. Values of variables that look like secrets are not printed: people paste this into reports.
// S3. Where a line has a width, a longer setting is several lines, if TOML allows that.
import { looksSecret } from "../../core/environment.ts";
import { expected } from "../shape-text.ts";
import type { LoadedConfig } from "./config.ts";
import { type Field, tomlKey, tomlOf } from "./config-fields.ts";
import { whenTaken } from "./config-reload.ts";
import { inFile, NAMED, SECTIONS, type Section } from "./config-schema.ts";

const NOT_SHOWN = "(not shown)";

export function showConfig({ config, lines, path, found }: LoadedConfig, width = Number.POSITIVE_INFINITY): string {
  const shown = Object.entries(SECTIONS).map(([name, fields]) =>
    section(inFile(name), Object.keys(fields), { values: config[name as keyof typeof SECTIONS], lines, width }),
  );
  const named = Object.entries(NAMED).flatMap(([kind, fields]) =>
    Object.entries(config[kind as keyof typeof NAMED]).map(([name, values]) =>
      section(tomlKey(kind, name), Object.keys(fields), { values, lines, width }),
    ),
  );
  const source = path ?? "nowhere: HOME is not set";
  return [`# ${found ? "from" : "defaults; there is no"} ${source}\n`, ...shown, ...named].join("\n");
}

type Shown = {
  readonly values: Readonly<Record<string, unknown>>;
  readonly lines: ReadonlyMap<string, number>;
  readonly width: number;
};

function section(name: string, fields: readonly string[], { values, lines, width }: Shown): string {
  const rows = fields.map((field) => {
    const line = lines.get(`${name}.${inFile(field)}`);
    const from = `  # ${line === undefined ? "default" : `line ${line}`}`;
    const value = withoutSecrets(field, values[field]);
    const setting = `${inFile(field)} = ${tomlOf(value)}`;
    return { key: inFile(field), value, setting, from, fits: setting.length + from.length <= width };
  });
  const cells = Math.max(0, ...rows.filter(({ fits }) => fits).map(({ setting }) => setting.length));
  const text = rows.flatMap(({ key, value, setting, from, fits }) => {
    if (fits) return [`${setting.padEnd(cells)}${from}`];
    if (Array.isArray(value)) return [`${key} = [${from}`, ...listLines(value, width), "]"]; // S3
    return [from.trim(), ...(typeof value === "string" ? textLines(key, value, width) : [setting])];
  });
  return [`[${name}]`, ...text, ""].join("\n");
}

/** A line end after a backslash, and the white space behind it, are no part of the text. */
function textLines(key: string, text: string, width: number): string[] {
  const plain = tomlOf(text);
  if (/^\s|\s\s|\s$/.test(text)) return [`${key} = ${plain}`];
  const lines: string[] = [];
  for (const word of plain.slice(1, -1).split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && `${last} ${word} \\`.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`  ${word}`);
  }
  return [`${key} = """\\`, ...lines.map((line, at) => (at === lines.length - 1 ? `${line}"""` : `${line} \\`))];
}

function listLines(list: readonly unknown[], width: number): string[] {
  const lines: string[] = [];
  for (const item of list.map((one) => `${tomlOf(one)},`)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + item.length <= width) lines[lines.length - 1] = `${last} ${item}`;
    else lines.push(`  ${item}`);
  }
  return lines;
}

function withoutSecrets(field: string, value: unknown): unknown {
  const isTable = typeof value === "object" && value !== null && !Array.isArray(value); // A list has only names.
  if (field !== "env" || !isTable) return value;
  const masked = Object.entries(value).map(([name, text]) => [name, looksSecret(name) ? NOT_SHOWN : text]); // S2
  return Object.fromEntries(masked);
}

/** docs/CONFIG.md. */
export function configReference(): string {
  const sections = Object.entries(SECTIONS).map(([name, fields]) => reference(inFile(name), fields));
  const named = Object.entries(NAMED).map(([kind, fields]) => reference(`${kind}.NAME`, fields));
  return [INTRO, ...sections, ...named].join("\n");
}

const INTRO = `# Configuration

Generated from \`src/wire/files/config-schema.ts\` by \`npm run docs\`; CI fails if it is out of date.

One TOML file: \`$HOLDFAST_CONFIG\`, else \`$XDG_CONFIG_HOME/holdfast/config.toml\`, else
\`~/.config/holdfast/config.toml\`. Without it, the defaults below apply. A key that is not listed here,
or a value that does not fit, is an error that names the key and the line; nothing of a wrong file is
used. \`holdfast config check\` checks it, \`holdfast config show\` prints all settings and where each
comes from.

Holdfast reads it when it starts, and again at \`holdfast reload\` or SIGHUP to the daemon; \`status\`,
\`doctor\` and \`config check\` say if there are changes that the daemon does not use yet. Each table
below says when changes count. \`reload\` names those that it has taken up, and those that wait for
\`holdfast down && holdfast up\`, through which programs, agents and runs keep running. A file with a
mistake is refused with line and column, and what was in effect stays. Agents that exist keep the
provider they were made with; a new rule counts for the next prompt. Another \`$HOLDFAST_CONFIG\` is seen
at a start only. What commands read themselves, such as \`terminal.detach_key\`, counts at once.
`;

function reference(name: string, fields: Section): string {
  const rows = Object.entries(fields).map(([field, kind]) => row(inFile(field), kind));
  const [table = ""] = name.split(".");
  const when = whenTaken(table, Object.keys(fields).map(inFile));
  return [`## [${name}]`, "", when, "", "| setting | default | takes | |", "|---|---|---|---|", ...rows, ""].join("\n");
}

function row(name: string, { shown, shape, says, fallback }: Field<unknown>): string {
  const standard = fallback === undefined ? "must be given" : shown.includes("`") ? shown : `\`${shown}\``;
  return `| \`${name}\` | ${standard} | ${expected(shape).replaceAll("\\", "\\\\")} | ${says} |`;
}
