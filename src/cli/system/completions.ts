// `holdfast completions`: scripts that make a shell complete our commands, flags and names. All three call
// `holdfast __complete` with the words so far, the last of which is unfinished, and get one candidate per line, or
// `:files` if the shell itself should complete a path. They call the very command that is being typed, so `./holdfast`
// completes too if none is on the PATH.
import { ok } from "../../base/result.ts";
import { type CommandWorld, command, EXIT, type Exit } from "../command-world.ts";
import { FILES, type HomeFlags } from "../flags.ts";

export const SHELL_SCRIPTS = {
  bash: `_holdfast() {
  local IFS=$'\\n'
  COMPREPLY=($("\${1/#\\~/$HOME}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [ "\${COMPREPLY[0]}" = ${FILES} ]; then
    COMPREPLY=()
    compopt -o default
  fi
}
complete -F _holdfast holdfast
`,
  zsh: `_holdfast() {
  local -a found
  found=("\${(@f)$(\${~words[1]} __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $found[1] = ${FILES} ]]; then
    _files
  elif [[ -n $found[1] ]]; then
    compadd -- $found
  fi
}
compdef _holdfast holdfast
`,
  fish: `function __holdfast_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l ours (string replace -r '^~' $HOME -- $words[1])
  set -l found ($ours __complete -- $words[2..-1] 2>/dev/null)
  if test "$found[1]" = ${FILES}
    __fish_complete_path (commandline -ct)
  else if set -q found[1]
    printf '%s\\n' $found
  end
end
complete -c holdfast -f -a '(__holdfast_complete)'
`,
} as const;

async function completions(
  { console }: CommandWorld,
  _flags: HomeFlags,
  shell: keyof typeof SHELL_SCRIPTS,
): Promise<Exit> {
  await console.out.write(SHELL_SCRIPTS[shell]);
  return ok(EXIT.ok);
}

export const completionsCommand = command(completions);
