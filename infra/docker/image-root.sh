#!/bin/sh
# Fills the root of the image: sh infra/docker/image-root.sh ROOT. The build stage runs it in the
# checkout, after the production dependencies are installed. Only the compile cache is added later.
set -eu
root=$1
app=$root$PWD
mkdir -p "$app" "$root/etc" "$root/usr/bin" "$root/usr/local/bin"
install -d -m 1777 "$root/tmp"

# flock: the node agent locks its state directory with it. env: the first line of `svc` names it.
programs="$(command -v node) $(command -v flock) $(command -v env)"
for program in $programs; do
  real=$(readlink -f "$program")
  case "$program" in
    */node) cp "$real" "$root/usr/local/bin/node" ;;
    *) cp "$real" "$root/usr/bin/$(basename "$program")" ;;
  esac
  # `ldd` prints an arrow before the path of a library, and none before the path of the loader.
  for library in $(ldd "$real" | grep -o '/[^ ]*'); do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
done
printf 'root:x:0:0::/:/none\nnode:x:1000:1000::/tmp:/none\n' >"$root/etc/passwd"
printf 'root:x:0:\nnode:x:1000:\n' >"$root/etc/group"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"

# The workspaces that production code imports.
workspaces=$(
  {
    printf '%s\n' services/* packages/admin-cli packages/node-agent
    find services packages -path '*/node_modules/@svc/*' -type l -exec readlink -f {} + |
      sed "s#^$PWD/##"
  } | sort -u
)
cp -a --parents package.json CHANGELOG.md prisma/migrations node_modules $workspaces "$app"
ln -s "$PWD/packages/admin-cli/src/main.ts" "$root/usr/local/bin/svc"

# Removes files that no process loads: tests, declarations and source maps of dependencies.
cd "$app"
find services packages -name node_modules -prune -o -type f \
  \( -name '*.test.ts' -o -name '*.fixture.ts' \) -exec rm {} +
find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) \
  -exec rm {} +
# Prisma has a query compiler for each database, and the generated client names the one it loads.
# The others are removed.
compiler=$(grep -o 'query_compiler_[a-z_]*\.postgresql' packages/store/src/generated/internal/class.ts |
  sort -u)
[ "$(printf '%s\n' "$compiler" | wc -l)" = 1 ] || exit 1
find node_modules/.pnpm/@prisma+client@*/node_modules/@prisma/client/runtime \
  -name 'query_compiler_*' ! -name "$compiler.*" -exec rm {} +
