// What the product says of an opened golden home, as far as it must be the same in every version.
// LK1. What a person reads (reasons, notes, next steps) may become better English, and is left out; everything else
//      that --json has is in.
// LK2. What is new in this life is left out too: pids, ids of prompts that were asked again, times after the home was
//      left.
// LK3. Fields that were added since are left out: the home was described without them.
import { readlinkSync } from "node:fs";
import { until } from "../until.ts";
import { AGENT } from "./flows.ts";
import type { Product } from "./product.ts";

/** `left`: when the power was cut, and the last entry of the log. */
export type Left = { readonly at: string; readonly seq: number };
type Row = Record<string, unknown>;

/**
 * Waits until what goes on by itself has gone on: two agents ask again what they had asked, and a program runs again.
 */
export async function settle(product: Product): Promise<void> {
  await product.shows('"LIVE"', "recovery", "status", "--json");
  await product.shows('"name":"asker"', "prompts", "--json");
  await product.shows('"name":"asks-review-', "prompts", "--json");
  await product.shows('"waiting"', "workflows", "--json");
  await product.shows("$ sleep 123456", "history", "front");
}

/** The lists that every life shows alike. */
export async function lists(product: Product, left: Left) {
  const terminals: Row[] = await product.json("ls");
  const runs: Row[] = await product.json("workflows");
  const prompts: Row[] = await product.json("prompts");
  return {
    terminals: terminals.map((row) => without(row, "pid", "clients", "lastOutputAt", "generation", "restoredAt")),
    // Those that are archived meanwhile come first.
    runs: runs.sort(byStart).map(({ needs, ...run }) => ({
      ...run,
      needs: rowsOf(needs).map((need) => without(need, "why", "prompt")),
    })),
    agents: (await product.json("agent", "tree")).map(branch),
    prompts: prompts.map((row) => without(row, "id", "since", "deadline")).sort(byName),
    rules: await product.json("rules", "ls"),
    tmux: (await product.json("adopt", "ls")).map((row: Row) => without(row, "reason", "notes", "trouble")),
    log: await logged(product, left),
  };
}

/** Each thing in full. */
export async function details(product: Product, left: Left) {
  return {
    agents: await each(agentIds(product), (id) => inspected(product, id)),
    inboxes: await each(["asker", "held"], (name) => product.json("agent", "inbox", name)),
    histories: await each(["work", "front", "after", "ended", "killed"], (name) => lines(product, name)),
    steps: await each(["done hello", "map work", "map sum", "uncertain long"], (step) => stepped(product, step)),
    dead: await product.json("dlq", "ls", "map"),
    runs: await each(["done", "failed", "map", "changed", "back", "uncertain", "old", "tree"], (name) =>
      checkpoint(product, name),
    ),
    checkpoints: await checkpoints(product, left),
    reports: await each(reportsBefore(product, left), (name) => fates(product, name)),
    config: (await product.json("config", "show")).config,
  };
}

/** What the recovery that opened the home made of everything. */
export async function firstLook(product: Product) {
  const { cause, items } = await product.json("recovery", "report");
  const terminals: Row[] = await product.json("ls");
  const running = terminals.filter(({ pid }) => pid !== null);
  return {
    cause,
    fates: rowsOf(items)
      .map(({ what, name, fate }) => `${what} ${name}: ${fate}`)
      .sort(),
    generations: Object.fromEntries(terminals.map(({ name, generation }) => [String(name), generation])),
    places: Object.fromEntries(running.map(({ name, pid }) => [String(name), placeOf(Number(pid))])),
  };
}

/** The directory of a process; null if it has ended. */
function placeOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

/** Waits until the look shows what is expected: terminals still start when the recovery is over. */
export async function becomes(fact: string, look: () => Promise<Row>, expected: Row): Promise<void> {
  let seen: Row = {};
  const isThere = async () => {
    seen = await look();
    return has(seen, expected);
  };
  await until(fact, isThere, () => Object.entries(seen).filter(([key, value]) => !has(value, expected[key])));
}

/** LK3 */
function has(found: unknown, expected: unknown): boolean {
  if (typeof expected !== "object" || expected === null) return found === expected;
  if (typeof found !== "object" || found === null || Array.isArray(found) !== Array.isArray(expected)) return false;
  if (Array.isArray(found) && Array.isArray(expected) && found.length !== expected.length) return false;
  const fields = new Map<string, unknown>(Object.entries(found));
  return Object.entries(expected).every(([key, value]) => has(fields.get(key), value));
}

/**
 * Every entry that was there when the home was left, as one number: whoever changes how one is read or drained changes
 * it.
 */
async function logged(product: Product, left: Left) {
  const { whole, quarantine, findings } = await product.json("log", "verify");
  const entries: Row[] = await product.json("log", "show");
  const old = entries.filter(({ seq }) => Number(seq) <= left.seq);
  const sha256 = new Bun.CryptoHasher("sha256").update(JSON.stringify(old)).digest("hex");
  return { whole, quarantine, findings, entries: old.length, sha256 };
}

function branch({ children, prompts, ...agent }: Row): Row {
  const asked = rowsOf(prompts).map((prompt) => prompt["tool"]);
  return { ...without(agent, "pid", "note"), prompts: asked, children: rowsOf(children).map(branch) };
}

function agentIds(product: Product): string[] {
  return product
    .names("agents")
    .filter((name) => name !== "rules")
    .map((name) => name.replace("_", "")) // That of one that is archived.
    .sort();
}

async function inspected(product: Product, id: string) {
  const { prompts, children, command, ...agent } = await product.json("agent", "inspect", id);
  const words = rowsOf(command).map((word) => (String(word) === AGENT ? "the script" : word));
  return { ...without(agent, "pid", "note"), command: words, asked: rowsOf(prompts).length };
}

/** What programs wrote and people typed, each line once: a program that is started again says some of it again. */
async function lines(product: Product, name: string): Promise<string[]> {
  const { text } = await product.json("history", name);
  const all = String(text)
    .split("\n")
    .map((line) => line.trimEnd());
  return [...new Set(all.filter((line) => line !== "" && line !== "$" && !line.startsWith("holdfast:")))];
}

async function stepped(product: Product, step: string) {
  const [run = "", id = ""] = step.split(" ");
  const attempts: Row[] = await product.json("logs", "--step", id, run);
  // The end of an attempt that was lost is the time at which it was missed (LK2).
  return attempts.map(({ at, ...rest }) => ({ ...without(rest, "error"), at: rest["code"] === null ? null : at }));
}

async function checkpoint(product: Product, name: string) {
  const { run, ...saved } = await product.json("checkpoints", "show", name);
  const { parameters, status, attempts, started_at, source_sha256 } = run;
  const body = without(saved, "seq", "created_at", "integrity_hash");
  const version = 1; // Of 0.1; it says how a file of this version is written, and not what is in it.
  return { ...body, version, run: { parameters, status, attempts, started_at, source_sha256 } };
}

/** Those that were there when the home was left; a saved one is replaced only by a newer one. */
async function checkpoints(product: Product, left: Left) {
  const found: Row[] = await product.json("checkpoints", "verify");
  const old = found.filter(({ seq }) => Number(seq) <= left.seq);
  return old.map(({ name, seq, verdict }) => `${name} ${seq} ${verdict}`).sort();
}

function reportsBefore(product: Product, left: Left): string[] {
  const until = left.at.replaceAll(/[:.]/g, "-");
  const names = product.names("recovery/reports").map((name) => name.replace(/\.json$/, ""));
  return names.filter((name) => name < until).sort();
}

async function fates(product: Product, name: string) {
  const { at, cause, items } = await product.json("recovery", "report", name);
  return { at, cause, items: rowsOf(items).map((item) => without(item, "reason", "next")) };
}

async function each<T>(names: readonly string[], look: (name: string) => Promise<T>): Promise<Record<string, T>> {
  const found: Record<string, T> = {};
  for (const name of names) found[name] = await look(name);
  return found;
}

function without(row: Row, ...keys: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([key]) => !keys.includes(key)));
}

function rowsOf(value: unknown): Row[] {
  return Array.isArray(value) ? value : [];
}

const byStart = (one: Row, other: Row) => String(one["startedAt"]).localeCompare(String(other["startedAt"]));

function byName(a: Row, b: Row): number {
  return String(a["name"]).localeCompare(String(b["name"]));
}
