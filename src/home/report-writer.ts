// Writes the reports of a daemon's recoveries, and with each the boot that the next start compares with.
// RW1. A report that the disk refuses stops nothing: that is logged once, and it is written later. Until then it has no
//      name.
// RW2. That a home was taken over is only forgotten when a report that says so is on disk.
import { isFault } from "../base/fault.ts";
import type { Report } from "../wire/rpc/rpc.ts";
import { removeTaken } from "./fleet-files.ts";
import type { HomeWorld } from "./held/holder-files.ts";
import { writeLastBoot } from "./last-life.ts";
import { writeReport } from "./reports.ts";

export class ReportWriter {
  readonly #place: HomeWorld;
  readonly #say: (words: string) => void;
  readonly #waiting = new Set<Report>();
  #name: string | null = null;

  constructor(place: HomeWorld, say: (words: string) => void) {
    this.#place = place;
    this.#say = say;
  }

  /** The name of the newest report that is on disk. */
  get name(): string | null {
    return this.#name;
  }

  async add(report: Report): Promise<void> {
    this.#waiting.add(report);
    await this.#write(this.#say);
  }

  /** RW1. Called on every heartbeat. */
  async tend(): Promise<void> {
    await this.#write(() => undefined);
  }

  async #write(say: (words: string) => void): Promise<void> {
    const { disk, home } = this.#place;
    try {
      for (const report of this.#waiting) {
        const name = await writeReport(disk, home, report);
        await writeLastBoot(this.#place);
        if (report.cause === "taken over") await removeTaken(this.#place); // RW2
        this.#name = name;
        this.#waiting.delete(report);
      }
    } catch (error) {
      if (!isFault(error)) throw error;
      say(`the report of a recovery could not be written yet: ${error.message}. ${error.hint}`);
    }
  }
}
