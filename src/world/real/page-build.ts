// Builds the page's files from its sources in src/page, through Bun: `main.tsx` and all that it imports become
// `/main.js` and, if it imports style sheets, `/main.css`; `index.html` is the page itself and names these two.
import { basename, join, relative, resolve } from "node:path";
import { type PackedFile, pack } from "../page-files.ts";

const ROOT = resolve(import.meta.dir, "../../..");
const FOLDER = "src/page";
const SCRIPT = `${FOLDER}/main.tsx`;
const PAGE = `${FOLDER}/index.html`;

/** `inputs`: what it was made of, as paths below the root. */
export type BuiltPage = { readonly files: readonly PackedFile[]; readonly inputs: readonly string[] };

/** Throws if a source is wrong. `root`: of an installation; ours if there is none. */
export async function buildPage(root: string = ROOT): Promise<BuiltPage> {
  const built = await Bun.build({
    entrypoints: [join(root, SCRIPT)],
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    metafile: true,
    env: "disable",
    define: { "process.env.NODE_ENV": '"production"' },
    naming: { entry: "[name].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
  });
  const page = pack("/", "text/html; charset=utf-8", await Bun.file(join(root, PAGE)).bytes());
  const others = built.outputs.map(async (file) =>
    pack(`/${basename(file.path)}`, file.type, new Uint8Array(await file.arrayBuffer())),
  );
  const inputs = Object.keys(built.metafile?.inputs ?? {}).map((path) => relative(root, resolve(path)));
  return { files: [page, ...(await Promise.all(others))], inputs: [...new Set([...inputs, ...settingsIn(root)])] };
}

/** What a build reads of the folder besides what is imported: the page itself, and how to read the sources. */
function settingsIn(root: string): string[] {
  return [...new Bun.Glob("*.{html,json}").scanSync(join(root, FOLDER))].map((name) => `${FOLDER}/${name}`);
}
