#!/bin/sh
# Replaces systemctl in the runbooks: systemctl start|stop|restart svc-NAME@N...
set -eu
action=$1
shift
for unit in "$@"; do
  name=${unit#svc-}
  name=${name%@*}
  pid_file="$RUNBOOK_STATE/$unit.pid"
  if [ "$action" != start ] && [ -f "$pid_file" ]; then
    pid=$(cat "$pid_file")
    kill -TERM "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    rm "$pid_file"
  fi
  if [ "$action" != stop ]; then
    (
      set -a
      . "$SVC_ENV"
      set +a
      unset OWNER_URL
      GATEWAY_PORT=0 NODE_LINK_PORT=0 ADMIN_PORT=0 exec setsid timeout 1800 node \
        "$SVC_RELEASES/current/services/$name/src/main.ts" >>"$RUNBOOK_STATE/$unit.log" 2>&1
    ) &
    echo $! >"$pid_file"
  fi
done
