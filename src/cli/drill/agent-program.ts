// The program of a drill's agents: a shell that speaks the scripted protocol and does what its prompts tell it, so that it needs no model
// and no key. Each message that reaches it, and each permission that it gets, leaves a line; so whatever is lost or doubled shows.
//   @note.X@      leaves the line X
//   @ask.X@       asks for a permission, and leaves the line "X allow" or "X deny"
//   @tell.WHO.X@  tells one of its agents to leave the line X
//   @spawn.WHO@   starts an agent of its own, which leaves the line "born-WHO"
// It is plain POSIX, like the program of the terminals (program.ts).

/** The variable that says where the lines go. */
export const LINES_VARIABLE = "DRILL_LINES";

const ACTING = [
  `leave() { echo "$1" >> "$${LINES_VARIABLE}"; }`,
  // Waits for what belongs to it; who is let go meanwhile ends.
  'hear() { while IFS= read -r line; do case $line in *"\\"$1\\""*) return;; esac; done; exit 0; }',
  `call() { printf '{"type":"call","call":"%s","tool":"%s","args":%s}\\n' "$key" "$1" "$2"; hear "$key"; }`,
  "act() {",
  "  n=$((n + 1))",
  "  key=$$-$n",
  "  what=${1#*.}",
  "  case $1 in",
  '  note.*) leave "$what";;',
  "  ask.*)",
  `    printf '{"type":"ask","request":"%s","tool":"Drill","input":{"what":"%s"}}\\n' "$key" "$what"`,
  '    hear "$key"',
  `    case $line in *'"decision":"allow"'*) leave "$what allow";; *) leave "$what deny";; esac;;`,
  `  tell.*) call send_message "{\\"to\\":\\"\${what%%.*}\\",\\"text\\":\\"@note.\${what#*.}@\\"}";;`,
  `  spawn.*) call spawn_agent "{\\"name\\":\\"$what\\",\\"instructions\\":\\"@note.born-$what@\\"}";;`,
  "  esac",
  "}",
  "n=0",
  "while IFS= read -r line; do",
  `  case $line in '{"type":"prompt"'*)`,
  `    for word in $(printf '%s\\n' "$line" | grep -o '@[^@ ]*@'); do word=\${word#@}; act "\${word%@}"; done`,
  `    echo '{"type":"done","response":"done"}';;`,
  "  esac",
  "done",
].join("\n");

export const AGENT_WORDS: readonly string[] = ["/bin/sh", "-c", ACTING];
