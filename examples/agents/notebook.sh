#!/bin/sh
# An agent CLI of the simplest kind, for the provider `notebook` in providers.toml: one process per turn, which takes the
# prompt as an argument, names its session in a line of JSON, and prints its answer as `result` in the last one.
#
#   notebook.sh PROMPT              begins a session
#   notebook.sh PROMPT SESSION      continues it
set -eu
session=${2:-notebook-$$}
printf '%s\n' "$1" >>"$session.notes"
printf '{"session_id":"%s"}\n' "$session"
printf '{"result":"%s notes so far"}\n' "$(wc -l <"$session.notes" | tr -d ' ')"
