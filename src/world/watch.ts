// Access to changes on disk that others make, without polling.
// WT1. A call may come late, twice, or for nothing. None is missed while a watch runs, unless the system drops some (it
//      then reports later ones). So a call only means: check now.

export interface Watch {
  /**
   * Calls `changed` with the name of what appeared, vanished or changed in a directory. Returns a function that stops
   * it, or undefined if there is no such directory.
   */
  directory(path: string, changed: (name: string) => void): (() => void) | undefined;
}
