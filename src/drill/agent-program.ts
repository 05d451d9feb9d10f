// The program of a drill's agents: a shell that speaks the scripted protocol and does what its prompts tell it, so that it needs no model
// and no key. Each message that reaches it, and each permission that it gets, leaves a line; so whatever is lost or doubled shows.
//   @note.X@      leaves the line X
//   @ask.X@       asks for a permission, and leaves the line "X allow" or "X deny"
//   @tell.WHO.X@  tells one of its agents to leave the line X
//   @spawn.WHO@   starts an agent of its own, which leaves the line "born-WHO"
//   @again@       it was interrupted: it goes on with what it had begun, and looks first whether that is done already
// It has a transcript, as real agents have: what it is told is there before it says a word, and what it has done once that is done.
// It is plain POSIX, like the program of the terminals (program.ts).

/** The variable that says where the lines go. */
export const LINES_VARIABLE = "DRILL_LINES";
/** What an agent is told whose process died in mid-turn. */
export const AGAIN = "@again@";

const ACTING = [
  `leave() { echo "$1" >> "$${LINES_VARIABLE}"; }`,
  'log() { echo "$1" >> "$log"; }',
  'logged() { grep -qxF -- "$1" "$log" 2>/dev/null; }',
  `left() { [ -n "$again" ] && grep -qxF -- "$1" "$${LINES_VARIABLE}"; }`,
  // Waits for what belongs to it; who is let go meanwhile ends.
  'hear() { while IFS= read -r line; do case $line in *"\\"$1\\""*) return;; esac; done; exit 0; }',
  // The same call in whichever process: it is done once.
  `call() { printf '{"type":"call","call":"%s","tool":"%s","args":%s}\\n' "$word" "$1" "$2"; hear "$word"; }`,
  "act() {",
  "  n=$((n + 1))",
  "  key=$$-$n",
  "  what=${1#*.}",
  "  case $1 in",
  '  note.*) left "$what" || leave "$what";;',
  '  ask.*) left "$what allow" || {',
  `    printf '{"type":"ask","request":"%s","tool":"Drill","input":{"what":"%s"}}\\n' "$key" "$what"`,
  '    hear "$key"',
  `    case $line in *'"decision":"allow"'*) leave "$what allow";; *) leave "$what deny";; esac; };;`,
  `  tell.*) call send_message "{\\"to\\":\\"\${what%%.*}\\",\\"text\\":\\"@note.\${what#*.}@\\"}";;`,
  `  spawn.*) call spawn_agent "{\\"name\\":\\"$what\\",\\"instructions\\":\\"@note.born-$what@\\"}";;`,
  "  esac",
  "}",
  "turn() {",
  `  words=$(printf '%s\\n' "$line" | grep -o '@[^@ ]*@')`,
  `  case $words in *${AGAIN}*) again=1;; *) again=; : > "$log";; esac`,
  `  for word in $words; do [ "$word" = ${AGAIN} ] || logged "$word" || log "$word"; done`,
  `  for word in $(grep '^@' "$log"); do`,
  '    logged "done $word" && continue',
  "    word=${word#@}",
  "    word=${word%@}",
  '    act "$word"',
  '    log "done @$word@"',
  "  done",
  `  echo '{"type":"done","response":"done"}'`,
  "}",
  "n=0",
  "while IFS= read -r line; do",
  "  case $line in",
  `  '{"type":"open"'*) session=\${line#*'"session":"'}; log="$${LINES_VARIABLE}-\${session%%'"'*}";;`,
  `  '{"type":"prompt"'*) turn;;`,
  "  esac",
  "done",
].join("\n");

export const AGENT_WORDS: readonly string[] = ["/bin/sh", "-c", ACTING];
