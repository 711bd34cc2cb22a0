#!/bin/sh
# Fills Node's compile cache in the root of the image: sh infra/docker/compile-cache.sh ROOT. Runs each
# program inside ROOT as the user of the image, because the cache depends on paths and user id.
set -eu
root=$1
cache=$PWD/compile-cache
install -d -o 1000 -g 1000 "$root$cache"
run() {
  chroot --userspec=1000:1000 "$root" /usr/local/bin/node "$@" >/tmp/output 2>&1 && code=0 || code=$?
}
export NODE_ENV=production NODE_COMPILE_CACHE="$cache"
for service in services/*; do
  run "$PWD/$service/src/main.ts"
  # The configuration is missing, so a program that has loaded exits with 2 and names DATABASE_URL.
  # Otherwise the program did not load.
  [ "$code" = 2 ] && grep -q DATABASE_URL /tmp/output || { cat /tmp/output; exit 1; }
done
for program in admin-cli node-agent; do
  run "$PWD/packages/$program/src/main.ts" --help
  [ "$code" = 0 ] || { cat /tmp/output; exit 1; }
done
chown -R root:root "$root$cache"
chmod -R a+rX "$root$cache"
