// The configuration for people: all settings with their origin, and the reference of all that there are.
// S1. What `showConfig` prints is TOML that can be saved and read again to the same settings, except for S2.
// S2. Values of variables that look like secrets are not printed: people paste this into reports.
import { looksSecret } from "../../core/environment.ts";
import { expected } from "../shape-text.ts";
import type { LoadedConfig } from "./config.ts";
import { type Field, tomlKey, tomlOf } from "./config-fields.ts";
import { inFile, NAMED, SECTIONS, type Section } from "./config-schema.ts";

const NOT_SHOWN = "(not shown)";

export function showConfig({ config, lines, path, found }: LoadedConfig): string {
  const shown = Object.entries(SECTIONS).map(([name, fields]) =>
    section(inFile(name), Object.keys(fields), { values: config[name as keyof typeof SECTIONS], lines }),
  );
  const named = Object.entries(NAMED).flatMap(([kind, fields]) =>
    Object.entries(config[kind as keyof typeof NAMED]).map(([name, values]) =>
      section(tomlKey(kind, name), Object.keys(fields), { values, lines }),
    ),
  );
  const source = path ?? "nowhere: HOME is not set";
  return [`# ${found ? "from" : "defaults; there is no"} ${source}\n`, ...shown, ...named].join("\n");
}

type Shown = { readonly values: Readonly<Record<string, unknown>>; readonly lines: ReadonlyMap<string, number> };

function section(name: string, fields: readonly string[], { values, lines }: Shown): string {
  const rows = fields.map((field) => {
    const line = lines.get(`${name}.${inFile(field)}`);
    const from = line === undefined ? "default" : `line ${line}`;
    return [`${inFile(field)} = ${tomlOf(withoutSecrets(field, values[field]))}`, from] as const;
  });
  const width = Math.max(...rows.map(([setting]) => setting.length));
  return [`[${name}]`, ...rows.map(([setting, from]) => `${setting.padEnd(width)}  # ${from}`), ""].join("\n");
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
`;

function reference(name: string, fields: Section): string {
  const rows = Object.entries(fields).map(([field, kind]) => row(inFile(field), kind));
  return [`## [${name}]`, "", "| setting | default | takes | |", "|---|---|---|---|", ...rows, ""].join("\n");
}

function row(name: string, { shown, shape, says, fallback }: Field<unknown>): string {
  const standard = fallback === undefined ? "must be given" : shown.includes("`") ? shown : `\`${shown}\``;
  return `| \`${name}\` | ${standard} | ${expected(shape).replaceAll("\\", "\\\\")} | ${says} |`;
}
