// What of a tmux session must come back: windows, names, layout, directories, titles, and what programs have printed.
// PI1. For a pane whose directory tmux does not know any more, the last one that was saved counts, or a later one.
import type { Pane } from "./pane.ts";
import type { Session, Window } from "./server.ts";

type PanePicture = {
  /** PI1 */
  readonly directories: readonly string[];
  /** What must be typed at its prompt when it is made again. */
  readonly command: string;
  readonly looks: string;
  /** What was typed at its prompt. */
  readonly typed: string;
};
type WindowPicture = { readonly looks: string; readonly panes: readonly PanePicture[] };
export type Picture = readonly WindowPicture[];

/** What people print: each word once. */
const PRINTED = /out-\d+/g;

export function pictureOf(session: Session): Picture {
  return session.windows.map((window) => ({
    looks: windowLooks(session, window),
    panes: window.panes.map((pane) => ({
      directories: directoriesOf(pane),
      command: pane.command.join(" "),
      looks: paneLooks(window, pane),
      typed: pane.typed,
    })),
  }));
}

/** What only its person changes. */
export function looksOf(picture: Picture) {
  return picture.map(({ looks, panes }) => [looks, ...panes.map(({ looks: inside, typed }) => [inside, typed])]);
}

/** Why a session that was made again is not as in this picture. */
export function difference(session: Session, picture: Picture): string[] {
  if (session.windows.length !== picture.length) return [`${session.windows.length} windows, not ${picture.length}`];
  return picture.flatMap(({ looks, panes }, at) => {
    const window = session.windows[at];
    if (window === undefined || window.panes.length !== panes.length) return [`a window has not ${panes.length} panes`];
    const found = windowLooks(session, window);
    const inside = panes.flatMap((pane, index) => paneDifference(window, window.panes[index], pane));
    return [...(found === looks ? [] : [`${found}, not ${looks}`]), ...inside];
  });
}

function paneDifference(window: Window, pane: Pane | undefined, { directories, command, looks }: PanePicture) {
  if (pane === undefined) return ["a pane is missing"];
  const found = paneLooks(window, pane);
  return [
    ...(directories.includes(pane.start.cwd) ? [] : [`a pane in ${pane.start.cwd}, not ${directories.join(" or ")}`]),
    ...(pane.typed === command ? [] : [`typed: ${pane.typed}, not ${command}`]),
    ...(found === looks ? [] : [`a pane is ${found}, not ${looks}`]),
  ];
}

function windowLooks({ current }: Session, window: Window): string {
  const { index, name, automatic, shape, zoomed } = window;
  return JSON.stringify([index, automatic ? null : name, shape, zoomed, current === window]);
}

function paneLooks({ current }: Window, pane: Pane): string {
  return JSON.stringify([pane.title, current === pane, pane.text.match(PRINTED) ?? []]);
}

/** PI1 */
function directoriesOf({ currentPath, directories, savedFrom }: Pane): readonly string[] {
  return currentPath === "" ? directories.slice(savedFrom) : [currentPath];
}
