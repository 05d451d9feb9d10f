// The program in a drill's terminals: a shell script that counts, and echoes its input. Whatever is lost, doubled or
// restarted shows in its lines.
//   ready     it reads from now on, and its terminal does not echo
//   t N       by a second process, several at a time: a number that goes up by one
//   e WORDS   for each line it read: the line
//   o N       after it: a number that goes up by one
// It is plain POSIX: one line costs a few system calls, so that dozens of them leave the machine to the tested
// processes.

/** Starting a process for each pause is the main cost, so it pauses seldom. */
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
/** Stays when its terminal is gone: only recovery ends it. */
const STUBBORN = ["trap '' HUP", ...COUNTING, "while :; do sleep 1; done"].join("\n");

/** The variable with the length of its pauses, in seconds. */
export const TICK_VARIABLE = "TICK_S";

export function programWords(stubborn: boolean): readonly string[] {
  return ["/bin/sh", "-c", stubborn ? STUBBORN : WELL_BEHAVED];
}

export type Said =
  | { readonly kind: "ready" }
  | { readonly kind: "counted"; readonly counter: "t" | "o"; readonly number: number }
  | { readonly kind: "echoed"; readonly words: string };

/** Parses a line; undefined if the program never prints it. */
export function readLine(line: string): Said | undefined {
  if (line === "ready") return { kind: "ready" };
  if (line.startsWith("e ")) return { kind: "echoed", words: line.slice(2) };
  const [, counter, digits] = /^([to]) (\d+)$/.exec(line) ?? [];
  if (counter !== "t" && counter !== "o") return undefined;
  return { kind: "counted", counter, number: Number(digits) };
}
