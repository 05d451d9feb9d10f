// What an attached reader saw of one terminal, byte by byte, and the program's lines in it.
// C1. Bytes arrive in order: a byte before the current offset is doubled, a byte after it means that some are lost.
// C2. Each of the program's counters goes up by one, and it prints only its known lines (program.ts).
import type { Findings } from "./findings.ts";
import { readLine } from "./program.ts";

export class Copy {
  readonly #name: string;
  readonly #findings: Findings;
  readonly #parts: Uint8Array[] = [];
  readonly #counters = new Map<string, number>();
  /** How often each line came back. */
  readonly echoes = new Map<string, number>();
  #end = 0;
  #rest = "";
  #ready = false;

  constructor(name: string, findings: Findings) {
    this.#name = name;
    this.#findings = findings;
  }

  /** The offset of the next byte. */
  get end(): number {
    return this.#end;
  }

  get ready(): boolean {
    return this.#ready;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  take(offset: number, bytes: Uint8Array): void {
    this.#expect(offset); // C1
    this.#parts.push(new Uint8Array(bytes));
    this.#end = offset + bytes.length;
    const lines = (this.#rest + Buffer.from(bytes).toString("latin1")).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line.replaceAll("\r", ""));
  }

  /** The holder announces the offset of what comes next. */
  resync(offset: number): void {
    this.#expect(offset);
    this.#end = offset;
  }

  #expect(offset: number): void {
    const off = offset - this.#end;
    if (off > 0) this.#findings.lose(off, `${this.#name}: ${off} bytes at ${this.#end} never arrived`);
    if (off < 0) this.#findings.double(-off, `${this.#name}: ${-off} bytes at ${offset} arrived twice`);
  }

  /** C2 */
  #line(line: string): void {
    const said = readLine(line);
    if (said === undefined) this.#findings.violate(`${this.#name}: a line it never printed: ${JSON.stringify(line)}`);
    if (said?.kind === "ready") this.#isReady();
    if (said?.kind === "counted") this.#count(said.counter, said.number);
    if (said?.kind === "echoed") this.echoes.set(said.words, (this.echoes.get(said.words) ?? 0) + 1);
  }

  #isReady(): void {
    if (this.#ready) this.#findings.violate(`${this.#name}: its program was started twice`);
    this.#ready = true;
  }

  #count(counter: string, number: number): void {
    const expected = this.#counters.get(counter) ?? 0;
    this.#counters.set(counter, number + 1);
    const words = `${this.#name}: its program counted ${counter} ${number} instead of ${expected}`;
    if (number > expected) this.#findings.lose(number - expected, words);
    if (number < expected) this.#findings.double(expected - number, words);
  }
}
