#!/bin/sh
# Starts a program that serves: `sh scripts/serve.sh standalone`, or api, worker, projector. The flags of V8 that Node is
# started with stand here and nowhere else; docs/performance.md (The flags of V8) says what each is for. NODE_OPTIONS adds
# to them.
#
# By `exec` the shell becomes Node: there is one process, and it hears its signals itself.
exec node \
  --v8-pool-size=0 \
  --heap-growing-percent=100 \
  --max-semi-space-size=64 \
  --no-allocation-site-pretenuring \
  "$(dirname "$0")/run.mjs" "$@"
