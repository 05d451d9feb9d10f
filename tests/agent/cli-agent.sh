#!/bin/sh
# An agent CLI of the simplest kind: a prompt, a session of its own choice, and a way to go on with it.
#   cli-agent.sh NOTES PROMPT            begins a session;  cli-agent.sh NOTES PROMPT SESSION   goes on with it
echo "${3:-new} $2" >>"$1"
case "$2" in *fail*) echo "it will not" ; exit 3 ;; esac
printf '{"session_id":"s-%s"}\n' "${3:-one}" | sed 's/s-s-/s-/'
printf '{"result":"did %s"}\n' "$2"
