#!/bin/sh
# Makes an authority of our own in the directory that is given, and a certificate of it for the servers, unless they are
# there. Hosts of the fleet need authority.crt alone. TLS_NAMES: the names by which the servers are reached.
set -eu
umask 077
cd "$1"
if [ ! -s server.crt ]; then
  names=""
  for name in $TLS_NAMES; do names="$names,DNS:$name"; done
  openssl req -x509 -newkey rsa:3072 -nodes -days 3650 -subj "/CN=fleet database authority" \
    -keyout authority.key -out authority.crt 2>/dev/null
  openssl req -newkey rsa:3072 -nodes -subj "/CN=fleet database" -keyout server.key -out server.csr 2>/dev/null
  echo "subjectAltName=${names#,}" > server.ext
  openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 3650 \
    -extfile server.ext -out server.crt 2>/dev/null
  rm server.csr server.ext
fi
chmod 755 .
chmod 644 authority.crt server.crt
if [ "$(id -u)" = 0 ]; then chown postgres server.key; fi
