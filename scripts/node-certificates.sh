#!/usr/bin/env bash
# Makes what the three nodes of docker-compose.distributed.yml need for TLS, once: ca/ca.crt, and node.crt and node.key in a
# folder named as each node. The key of the CA is thrown away, so that nobody can make another certificate of it; for new
# ones, remove the folder and run this again. `node-certificates.sh FOLDER [USER]`: the nodes run as USER.
set -euo pipefail

folder=$1
user=${2:-1001}
days=3650

# It is put in place last: without it nothing is complete.
[ -e "$folder/ca/ca.crt" ] && exit 0

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

openssl req -x509 -newkey rsa:3072 -nodes -sha256 -days "$days" -keyout "$work/ca.key" -out "$work/ca.crt" \
  -subj '/CN=ags nodes CA' -addext 'keyUsage=critical,keyCertSign,cRLSign' 2>/dev/null

for node in kurrentdb-1 kurrentdb-2 kurrentdb-3; do
  rm -rf "${folder:?}/$node"
  mkdir -p "$folder/$node"
  # One name for all: by it a node knows another. Each is reached by its own, and by its health check as localhost.
  openssl req -newkey rsa:3072 -nodes -sha256 -keyout "$folder/$node/node.key" -out "$work/node.csr" \
    -subj '/CN=ags-node' 2>/dev/null
  openssl x509 -req -sha256 -days "$days" -in "$work/node.csr" -CA "$work/ca.crt" -CAkey "$work/ca.key" -CAcreateserial \
    -out "$folder/$node/node.crt" 2>/dev/null -extfile <(
    echo 'basicConstraints=critical,CA:FALSE'
    echo 'keyUsage=critical,digitalSignature,keyEncipherment'
    echo 'extendedKeyUsage=serverAuth,clientAuth'
    echo "subjectAltName=DNS:$node,DNS:localhost"
  )
  chmod 0755 "$folder/$node"
  chmod 0644 "$folder/$node/node.crt"
  chown "$user" "$folder/$node/node.key"
done

mkdir -p "$folder/ca"
chmod 0755 "$folder/ca"
cp "$work/ca.crt" "$folder/ca/ca.crt.new"
chmod 0644 "$folder/ca/ca.crt.new"
mv "$folder/ca/ca.crt.new" "$folder/ca/ca.crt"
echo 'The nodes have their certificates.'
