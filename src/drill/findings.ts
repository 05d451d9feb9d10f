// What the drill found. One list, so that nothing noticed on the way is forgotten at the end.

/** One bug often shows in many places; a person reads only a few of them. */
const MOST = 100;

export class Findings {
  /** Things that were acknowledged, or were on a tape, and are gone. */
  lost = 0;
  /** Things that exist more than once. */
  doubled = 0;
  /** Processes without a holder. */
  orphans = 0;
  readonly violations: string[] = [];

  lose(number: number, words: string): void {
    this.lost += number;
    this.violate(words);
  }

  double(number: number, words: string): void {
    this.doubled += number;
    this.violate(words);
  }

  orphan(number: number, words: string): void {
    this.orphans += number;
    this.violate(words);
  }

  violate(words: string): void {
    if (this.violations.length < MOST && !this.violations.includes(words)) this.violations.push(words);
  }

  get none(): boolean {
    return this.lost + this.doubled + this.orphans + this.violations.length === 0;
  }
}
