// Limits of workflows, each with its reason. A transaction of the log has at most 1 MiB (log/wal/wal.ts), and these
// stay below.

const ENCODER = new TextEncoder();
/** Each of its characters is one byte. */
const PLAIN = /^[ -~]*$/;

/** The bytes of a value as JSON, as in the log. */
export function sizeOf(value: unknown): number {
  return bytesIn(JSON.stringify(value) ?? "");
}

/** A long list asks for each of its items, so little is left behind. */
export function bytesIn(text: string): number {
  return PLAIN.test(text) ? text.length : ENCODER.encode(text).length;
}

/** All of a run's first event, or of a new version of its file. Ten thousand short steps fit. */
export const MAX_DEFINITION = 960 << 10;
/** What a record keeps of a step's output, from its end; the whole output is in the attempt's own files. */
export const MAX_RECORDED_OUTPUT = 4 << 10;
/**
 * The total size of one step's variables. A transaction has it twice: for the ended step, and what follows in process.
 */
export const MAX_CAPTURED = 256 << 10;
/** One text in a program's environment, including its name: Linux allows 128 KiB (MAX_ARG_STRLEN). */
export const MAX_ENV_TEXT = 120 << 10;
/** An item, and its result. */
export const MAX_ITEM = 256 << 10;
export const MAX_ITEM_RESULT = 64 << 10;
/** A page of a list has at least one item. All of one are in memory at once, several times. */
export const ITEMS_PAGE = 64 << 10;
/** Each worker is a holder and its child: two processes. */
export const MAX_PARALLEL = 64;
export const MAX_ITEMS = 1_000_000;
export const MAX_ITERATIONS = 100_000;
/** Of so many iterations at least, and of twice as many at most, each step is kept (past.ts). */
export const ITERATIONS_KEPT = 50;
/**
 * How many steps in a row are set or skipped, and items started, in one transaction. They do nothing outside: none is
 * visible before all are durable, and after a crash the rest is decided again. A decision of this size takes about 1
 * ms.
 */
export const IN_PROCESS_A_TURN = 64;
/** The time between SIGTERM and SIGKILL. */
export const STOP_GRACE_MS = 10_000;
/** A step whose attempts are lost this often in a row is not run again without asking, whatever its policy. */
export const MAX_LOST = 3;
/** How many items of a dead-letter queue one command takes. */
export const MAX_QUEUE_AT_ONCE = 50_000;
/** The maximum length of an error message: it may contain a value. */
export const MAX_MESSAGE = 1000;
