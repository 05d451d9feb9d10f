// Builds the page's files from its sources in src/page, through Bun: `main.tsx` and all that it imports become
// `/main.js` and, if it imports style sheets, `/main.css`; `index.html` is the page itself and names these two. The
// service worker, `/worker.js`, is one file that knows the names of all the others. What is in `still/` stays as it is.
// PB1. The page names its script and its style with a hash of their text behind a `?`, as all other names have one in
//      them: so a page never gets the script of another version, whatever a cache keeps.
import { basename, join, relative, resolve } from "node:path";
import { sha256 } from "../hash.ts";
import { type PackedFile, pack } from "../page-files.ts";

const ROOT = resolve(import.meta.dir, "../../..");
const FOLDER = "src/page";
const SCRIPT = `${FOLDER}/main.tsx`;
const WORKER = `${FOLDER}/worker/worker.ts`;
const PAGE = `${FOLDER}/index.html`;
const STILL = `${FOLDER}/still`;

/** `inputs`: what it was made of, as paths below the root. */
export type BuiltPage = { readonly files: readonly PackedFile[]; readonly inputs: readonly string[] };

type Made = { readonly path: string; readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> };

const HOW = {
  target: "browser",
  minify: true,
  metafile: true,
  env: "disable",
  naming: { entry: "[name].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
} as const;
const PRODUCTION = { "process.env.NODE_ENV": '"production"' };

/** Throws if a source is wrong. `root`: of an installation; ours if there is none. */
export async function buildPage(root: string = ROOT, plugins: Bun.BunPlugin[] = []): Promise<BuiltPage> {
  const built = await Bun.build({
    ...{ ...HOW, entrypoints: [join(root, SCRIPT)], format: "esm", splitting: true, define: PRODUCTION, plugins },
  });
  const scripts = await Promise.all(built.outputs.map(made));
  const page = await pageOf(root, scripts);
  const worker = await workerOf(root, [page, ...scripts]);
  const files = [page, ...scripts, worker.file, ...(await stillOf(root))];
  const read = [built.metafile, worker.metafile].flatMap((meta) => Object.keys(meta?.inputs ?? {}));
  const inputs = read.map((path) => relative(root, resolve(path)));
  return {
    files: files.map(({ path, type, bytes }) => pack(path, type, bytes)),
    inputs: [...new Set([...inputs, ...settingsIn(root)])],
  };
}

async function made(file: Bun.BuildArtifact): Promise<Made> {
  return { path: `/${basename(file.path)}`, type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) };
}

/** PB1 */
async function pageOf(root: string, scripts: readonly Made[]): Promise<Made> {
  const plain = await Bun.file(join(root, PAGE)).text();
  const text = scripts.reduce(
    (before, { path, bytes }) => before.replace(`"${path.slice(1)}"`, `"${path.slice(1)}?${shortHash(bytes)}"`),
    plain,
  );
  return { path: "/", type: "text/html; charset=utf-8", bytes: new TextEncoder().encode(text) };
}

/** What the first view needs, and a device to connect: terminals are of no use without a network. */
const SHELL = /^\/(?:(?:main|device)[-.].*)?$/;

async function workerOf(root: string, all: readonly Made[]) {
  const shell = all.filter(({ path }) => SHELL.test(path));
  const build = shortHash(new TextEncoder().encode(shell.map(({ bytes }) => sha256(bytes)).join(" ")));
  const kept = shell.map(({ path, bytes }) =>
    path === "/" ? "./" : /-\w{8}\./.test(path) ? `.${path}` : `.${path}?${shortHash(bytes)}`,
  );
  const define = { ...PRODUCTION, SHELL: JSON.stringify(JSON.stringify({ build, files: kept })) };
  const { outputs, metafile } = await Bun.build({
    ...{ ...HOW, entrypoints: [join(root, WORKER)], format: "iife", define },
  });
  const [script] = outputs;
  if (script === undefined) throw new Error("the service worker was not built");
  return { file: await made(script), metafile };
}

function stillOf(root: string): Promise<Made[]> {
  const names = [...new Bun.Glob("*").scanSync(join(root, STILL))].toSorted();
  return Promise.all(
    names.map(async (name) => {
      const file = Bun.file(join(root, STILL, name));
      return { path: `/${name}`, type: file.type, bytes: await file.bytes() };
    }),
  );
}

function shortHash(bytes: Uint8Array): string {
  return sha256(bytes).slice(0, 12);
}

/** What a build reads of the folder besides what is imported: the page itself, and how to read the sources. */
function settingsIn(root: string): string[] {
  const found = ["*.{html,json}", "still/*"].flatMap((names) => [...new Bun.Glob(names).scanSync(join(root, FOLDER))]);
  return found.map((name) => `${FOLDER}/${name}`);
}
