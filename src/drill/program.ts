// The program that runs in a drill's terminals: a shell that counts, and says back what it is told. Whatever is lost, doubled or
// started anew shows in its lines.
//   ready     it reads from now on, and its terminal does not echo
//   t N       by a second process, several at a time: a number that goes up by one
//   e WORDS   for each line it read: the line
//   o N       after it: a number that goes up by one
// It is plain POSIX: one line costs a few system calls, so that dozens of them leave the machine to those we watch.

/** To start another process for each pause is what it costs most: so it pauses seldom. */
const COUNTING = [
  "stty -echo",
  "tick() { t=0; while echo t $t; do t=$((t + 1)); [ $((t % 8)) -eq 0 ] && sleep $TICK_S; done; }",
  "tick &",
  "echo ready",
  "n=0",
  'while read -r line; do echo "e $line"; echo "o $n"; n=$((n + 1)); done',
];

/** Ends like any program when its terminal is gone. */
const WELL_BEHAVED = COUNTING.join("\n");
/** Stays when its terminal is gone: it is ended by recovery, or by nobody. */
const STUBBORN = ["trap '' HUP", ...COUNTING, "while :; do sleep 1; done"].join("\n");

/** The variable that says how long it pauses, in seconds. */
export const TICK_VARIABLE = "TICK_S";

export function programWords(stubborn: boolean): readonly string[] {
  return ["/bin/sh", "-c", stubborn ? STUBBORN : WELL_BEHAVED];
}

export type Said =
  | { readonly kind: "ready" }
  | { readonly kind: "counted"; readonly counter: "t" | "o"; readonly number: number }
  | { readonly kind: "echoed"; readonly words: string };

/** What a line says; undefined where the program never says such a thing. */
export function readLine(line: string): Said | undefined {
  if (line === "ready") return { kind: "ready" };
  if (line.startsWith("e ")) return { kind: "echoed", words: line.slice(2) };
  const [, counter, digits] = /^([to]) (\d+)$/.exec(line) ?? [];
  if (counter !== "t" && counter !== "o") return undefined;
  return { kind: "counted", counter, number: Number(digits) };
}
