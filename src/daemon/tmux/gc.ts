// Which files of tmux sessions garbage collection may delete: the saved state of released sessions, but not their logs.
// A session under our care is never touched, whatever its age.
import { joinPath } from "../../base/path.ts";
import { beyond, type Chosen, daysMs, type Thing } from "../../core/retention.ts";
import type { TmuxCare } from "../../core/tmux/tmux.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import { sized } from "../gc.ts";
import type { Retention } from "../part.ts";
import { tmuxDirectory } from "./saver.ts";

export type TmuxGarbage = {
  cares(): Iterable<TmuxCare>;
  /** When it was released; undefined if its log does not record it. */
  releasedAt(id: string): number | undefined;
};

/** The saved state of a tmux session; its screens have their own directory. */
const SAVED = /^(?:(?:checkpoint|before)(?:\.backup)?|notes)\.json$/;

export function tmuxGarbage(place: HomeWorld, ports: TmuxGarbage, rules: Retention): Chosen[] {
  return beyond(releasedFiles(place, ports), { ageMs: daysMs(rules.removedDays) }, place.clock.now());
}

function releasedFiles({ disk, home }: HomeWorld, ports: TmuxGarbage): Thing[] {
  const released = [...ports.cares()].filter((care) => care.released);
  return released.flatMap(({ id }) => {
    const directory = tmuxDirectory(home, id);
    const screens = joinPath(directory, "screens");
    const names = disk.list(screens).filter((name) => /^\d+-\d+\.txt$/.test(name));
    const shown = names.length === 0 ? [] : [...names.map((name) => joinPath(screens, name)), screens];
    const saved = disk.list(directory).filter((name) => SAVED.test(name));
    const paths = [...shown, ...saved.map((name) => joinPath(directory, name))];
    if (paths.length === 0) return [];
    return [{ ...sized(disk, "files of a released tmux session", paths), at: ports.releasedAt(id) }];
  });
}
