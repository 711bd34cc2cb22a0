#!/bin/sh
# Builds the image with buildah, runs the services of docker-compose.yml with podman, and checks both.
# Needs root on Linux. Each check prints its figure, and the last line is the verdict (test/image).
#
#   sh infra/docker/verify.sh          removes all that it made
#   sh infra/docker/verify.sh --keep   keeps the folder with images and logs
set -eu
exec sh "$(dirname "$0")/../local/bootstrap.sh" run node test/image/main.ts "$@"
