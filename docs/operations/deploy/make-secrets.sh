#!/bin/sh
# Makes the secrets of compose.yaml in the folder `secrets`, once: a second run changes nothing that exists.
# The certificate is the operator's: secrets/certificate.pem, with its chain and its key. Without one, a self-signed one
# is made, for trying.
set -eu
cd "$(dirname "$0")"
# Only the folder's owner can enter it. The files are read in containers by users without privileges.
mkdir -p secrets && chmod 700 secrets && cd secrets
for name in pepper owner gateway; do [ -s "$name.txt" ] || openssl rand -hex 32 >"$name.txt"; done
owner=$(cat owner.txt)
gateway=$(cat gateway.txt)
cat >gateway.env <<END
API_KEY_PEPPER=$(cat pepper.txt)
DATABASE_URL=postgres://tidegate_runtime:$gateway@pgbouncer:6432/tidegate
LISTEN_URL=postgres://tidegate_runtime:$gateway@postgres/tidegate
END
echo "MIGRATION_URL=postgres://tidegate:$owner@postgres/tidegate" >migrate.env
echo "GATEWAY_PASSWORD=$gateway" >roles.env
echo "\"tidegate_runtime\" \"$gateway\"" >pgbouncer-users.txt
if [ ! -s certificate.pem ]; then
  openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=localhost -keyout key.pem -out certificate.pem 2>/dev/null
  cat key.pem >>certificate.pem && rm key.pem
fi
chmod 644 ./*
