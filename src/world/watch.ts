// The door to changes on disk that others make: asked once, told often, without looking again and again.
// WT1. A call may come late, twice, or for nothing; none is missed between the start and the stop of a watch,
//      except where the system drops some (it then tells of later ones). So a call only says: look now.

export interface Watch {
  /** Calls `changed` with the name of what came, went or changed in a directory. Undefined where there is none; else how to stop. */
  directory(path: string, changed: (name: string) => void): (() => void) | undefined;
}
