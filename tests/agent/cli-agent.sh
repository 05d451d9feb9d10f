#!/bin/sh
# An agent CLI of the simplest kind: a prompt, a session of its own choice, and a way to go on with it.
#   cli-agent.sh NOTES PROMPT            begins a session;  cli-agent.sh NOTES PROMPT SESSION   goes on with it
echo "${3:-new} $2" >>"$1"
case "$2" in *fail*) echo "it will not" ; echo "for a reason" >&2 ; exit 3 ;; esac
case "$2" in *warn*) echo "be careful" >&2 ;; esac
case "$2" in *hang*) [ -e "$1.hung" ] || { printf '{"session_id":"s-one"}\n'; : >"$1.hung"; exec sleep 1000; } ;; esac
case "$2" in *stdin*) cat >>"$1" ;; esac # Until its end, as codex does.
printf '{"session_id":"s-%s"}\n' "${3:-one}" | sed 's/s-s-/s-/'
printf '{"result":"did %s"}\n' "$2"
