// Paths as text: joining, splitting and walking. Nothing here touches the disk.
export function joinPath(a: string, b: string): string {
  return a.endsWith("/") ? a + b : `${a}/${b}`;
}

/** "/a/b" → "/a"; "/a" → "/"; "a" → "."; "/" and "." are their own parents. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  if (slash > 0) return path.slice(0, slash);
  return slash === 0 ? "/" : ".";
}

/** `path` as seen from the directory `from`, without `.` and `..`; `from` is absolute. As node:path does it. */
export function resolvedPath(from: string, path: string): string {
  const steps: string[] = [];
  for (const step of (path.startsWith("/") ? path : `${from}/${path}`).split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return `/${steps.join("/")}`;
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** "/a/b" → "/a", "/a/b". */
export function levelsOf(path: string): string[] {
  const levels: string[] = [];
  for (let level = path; level !== parentOf(level); level = parentOf(level)) levels.unshift(level);
  return levels;
}
