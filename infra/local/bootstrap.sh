#!/bin/sh
# Runs `npm start` and `npm test`. It needs only Node 20 (or newer) and npm. It installs what is
# missing, puts Node 24 first on the PATH (on Linux), and continues in TypeScript. A second run
# installs nothing.
#
#   sh infra/local/bootstrap.sh start          the embedded stack (infra/local/src/main.ts)
#   sh infra/local/bootstrap.sh start --watch  the same; processes start again when their code changes
#   sh infra/local/bootstrap.sh test           all checks, then all tests
#   sh infra/local/bootstrap.sh test WORDS     the tests only, with these words for vitest
#   sh infra/local/bootstrap.sh check          types, lint, format, boundaries, unused code, lockfile
#   sh infra/local/bootstrap.sh run COMMAND    anything else, with the same PATH
set -eu
cd "$(dirname "$0")/../.."

fail() {
  printf '\n%s\n%s\n' "$1" "$2" >&2
  exit 1
}

needs_node='Install Node.js 20 or newer with npm, from https://nodejs.org or your package manager.'
command -v node >/dev/null 2>&1 || fail 'Node.js is missing.' "$needs_node"
command -v npx >/dev/null 2>&1 || fail 'npm is missing.' "$needs_node"
major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
[ "$major" -ge 20 ] || fail "Node.js $(node --version) is too old." "$needs_node"

export TURBO_TELEMETRY_DISABLED=1 DO_NOT_TRACK=1 CHECKPOINT_DISABLE=1
export NODE_COMPILE_CACHE="$PWD/.local/cache/compile"

# True if a step has succeeded with these inputs: is_done FILE INPUTS. The file contains the inputs.
is_done() {
  [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]
}

installed=node_modules/.svc-installed
manifests=$(cat package.json pnpm-workspace.yaml pnpm-lock.yaml \
  packages/*/package.json services/*/package.json infra/local/package.json | cksum)
manifests="$manifests $(uname -sm) $PWD"
if ! is_done "$installed" "$manifests"; then
  pnpm=$(sed -n 's/.*"packageManager": "\(pnpm@[^"+]*\).*/\1/p' package.json)
  echo "Installing dependencies with $pnpm ..."
  npm_config_update_notifier=false npm_config_loglevel=error \
    npx --yes "$pnpm" install --frozen-lockfile --reporter=append-only </dev/null ||
    fail 'The dependencies could not be installed.' 'Check that the npm registry is reachable. Then run the same command again.'
  printf '%s' "$manifests" >"$installed"
fi

PATH="$PWD/node_modules/.bin:$PATH"
export PATH
# On Linux, `node` is Node 24 from the dependencies. On other systems it is the Node of the machine.
node -e '
  const [major, minor] = process.versions.node.split(".").map(Number);
  process.exit(major > 22 || (major === 22 && minor >= 18) ? 0 : 1);
' || fail "Node.js $(node --version) cannot run TypeScript." 'On this system, install Node.js 22.18 or newer.'

generated=node_modules/.svc-generated
schema="$(cksum <prisma/schema.prisma) $manifests"
if ! is_done "$generated" "$schema" || [ ! -f packages/store/src/generated/client.ts ]; then
  output=$(prisma generate --config prisma/prisma.config.ts 2>&1) ||
    fail "$output" 'The Prisma client could not be generated from prisma/schema.prisma. The lines above say why.'
  printf '%s' "$schema" >"$generated"
fi

task=${1:-start}
[ $# -eq 0 ] || shift
case "$task" in
  start) exec node infra/local/src/main.ts "$@" ;;
  test) exec node infra/local/src/run-tests.ts "$@" ;;
  check) exec pnpm run check "$@" ;;
  run) exec "$@" ;;
  *) fail "There is no task $task." 'The tasks are start, test, check and run.' ;;
esac
