// Workflow files: read and checked, and found for a record that an older program left.
// WF1. The YAML reader is loaded when the first file is read: it would add 40 ms to every start of the daemon.
// WF2. A record's own path is used if that file exists. Otherwise a file that was named, or one beside the place where
//      it ran, is used only if its name matches the record's: a wrong file would run the wrong steps.
// WF3. Parsing costs a tenth of a millisecond per step, and the same file is often run many times: the last few valid
//      definitions are cached by contents and name. The bytes are read each time.
import { isFault } from "../../base/fault.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Definition } from "../../core/workflow/definition.ts";
import type { OldRun } from "../../core/workflow/migrate-old.ts";
import { readWhole } from "../../log/file/file.ts";
import type { Disk } from "../../world/disk.ts";
import { sha256 } from "../../world/hash.ts";

export type WorkflowFile = { readonly definition: Definition; readonly sourceSha256: string };

/** WF1 */
export async function readWorkflowFile(disk: Disk, path: string): Promise<Result<WorkflowFile>> {
  const bytes = fileAt(disk, path);
  if (!bytes.ok) return bytes;
  const { readWorkflow, workflowNameOf, workflowRefusal } = await import("../../wire/files/workflow-file.ts");
  const name = workflowNameOf(path);
  const sourceSha256 = sha256(bytes.value);
  const known = remembered.get(`${sourceSha256} ${name}`);
  if (known !== undefined) return ok({ definition: known, sourceSha256 });
  const read = readWorkflow(bytes.value, name);
  if (!read.ok) return { ok: false, error: workflowRefusal(path, read.error) };
  remember(`${sourceSha256} ${name}`, read.value);
  return ok({ definition: read.value, sourceSha256 });
}

/** WF3 */
const MAX_REMEMBERED = 8;
const remembered = new Map<string, Definition>();

function remember(key: string, definition: Definition): void {
  remembered.set(key, definition);
  const [oldest] = remembered.keys();
  if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
}

function fileAt(disk: Disk, path: string): Result<Uint8Array> {
  try {
    const bytes = readWhole(disk, path);
    return bytes === undefined ? refused("unknown", `There is no file ${path}.`, "Name a workflow file.") : ok(bytes);
  } catch (error) {
    if (isFault(error)) return refused(error.code, error.message, error.hint);
    throw error;
  }
}

export type FoundWorkflow = WorkflowFile & { readonly path: string; readonly directory: string };

/** WF2 */
export async function workflowOf(disk: Disk, old: OldRun, named: readonly string[]): Promise<Result<FoundWorkflow>> {
  const own = ownPath(old);
  if (own !== undefined && disk.stat(own)?.kind === "file") return at(disk, own);
  const found: FoundWorkflow[] = [];
  for (const path of named) {
    const file = await at(disk, path);
    if (!file.ok) return file;
    if (isItsName(old, file.value, path)) found.push(file.value);
  }
  const [only, ...others] = found;
  if (only !== undefined) return others.length === 0 ? ok(only) : noWorkflow(`${found.length} of the files match it`);
  const beside = besideIt(old).find((path) => disk.stat(path)?.kind === "file");
  if (beside !== undefined) return at(disk, beside);
  return noWorkflow(
    own === undefined ? "it does not say which workflow file it was run from" : `its workflow file is gone: ${own}`,
  );
}

function noWorkflow(reason: string): Result<never> {
  return refused("no-workflow", `It cannot go on without its steps: ${reason}.`, "Name the file: --workflow FILE");
}

async function at(disk: Disk, path: string): Promise<Result<FoundWorkflow>> {
  const file = await readWorkflowFile(disk, path);
  return file.ok ? ok({ ...file.value, path, directory: parentOf(path) }) : file;
}

function ownPath({ path, cwd }: OldRun): string | undefined {
  if (path === null || path.startsWith("/")) return path ?? undefined;
  return cwd?.startsWith("/") ? joinPath(cwd, path) : undefined;
}

/** A record without a name and a path matches any file that was named. */
function isItsName({ name, path }: OldRun, { definition }: FoundWorkflow, file: string): boolean {
  if (name === null && path === null) return true;
  const base = (text: string) => text.slice(text.lastIndexOf("/") + 1).replace(/\.ya?ml$/, "");
  const names = [...(name === null ? [] : [name, base(name)]), ...(path === null ? [] : [base(path)])];
  return names.includes(definition.name) || names.includes(base(file));
}

function besideIt({ name, cwd }: OldRun): string[] {
  if (name === null || !cwd?.startsWith("/") || name.includes("/")) return [];
  return [`${name}.yml`, `${name}.yaml`].map((file) => joinPath(cwd, file));
}
