// The program of a drill's agents: a shell script that speaks the scripted protocol and follows its prompts, so that it
// needs no model and no key. Each message it gets, and each permission, leaves a line, so that losses and doubles show.
//   @note.X@      leaves the line X
//   @ask.X@       asks for a permission, and leaves the line "X allow" or "X deny"
//   @tell.WHO.X@  tells one of its agents to leave the line X
//   @spawn.WHO@   starts a child agent, which leaves the line "born-WHO"
//   @again@       it was interrupted: it continues what it had started, and first checks whether that is already done
// It has a transcript, like real agents: prompts are recorded before any output, and actions once they are done.
// It is plain POSIX, like the program of the terminals (program.ts).

/** The variable with the path of the file for the lines. */
export const LINES_VARIABLE = "DRILL_LINES";
/** The prompt for an agent whose process died in the middle of a turn. */
export const AGAIN = "@again@";

const ACTING = [
  `leave() { echo "$1" >> "$${LINES_VARIABLE}"; }`,
  'log() { echo "$1" >> "$log"; }',
  'logged() { grep -qxF -- "$1" "$log" 2>/dev/null; }',
  `left() { [ -n "$again" ] && grep -qxF -- "$1" "$${LINES_VARIABLE}"; }`,
  // Waits for its reply; exits if its input is closed meanwhile.
  'hear() { while IFS= read -r line; do case $line in *"\\"$1\\""*) return;; esac; done; exit 0; }',
  // The same call id in every process: it is carried out once.
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
