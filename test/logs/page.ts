import { nodeLogCatalogue, nodeLogMembers } from '@svc/node-agent';
import { logCatalogue, logMembers } from '@svc/runtime';

export interface DocumentedEvent {
  readonly level: string;
  readonly message: string | null;
  readonly members: readonly string[];
  readonly action?: string;
  readonly says?: string;
}

export const serviceEvents: readonly [string, DocumentedEvent][] = Object.entries(logCatalogue);
export const nodeEvents: readonly [string, DocumentedEvent][] = Object.entries(nodeLogCatalogue);

const head = `# Logs

Services and nodes write one JSON object per line to standard output. This page is generated from the catalogues in
\`packages/runtime/src/log-events\` and \`packages/node-agent/src/log-events.ts\` with \`pnpm logs:docs\`. How to read the
logs is in [operations](OPERATIONS.md#logs).

- \`event\` names what happened. It is stable: search and alert by it. \`msg\` is for people and may change.
- Every line has \`time\` (RFC 3339, by the clock of the machine), \`level\`, \`service\`, \`event\` and \`msg\`. A service adds
  \`pid\`, a node \`nodeId\`.
- A line never has a secret, a payload, a result or personal data of applicants.
- New events and new members may be added at any time. Ignore those that you do not know.
- \`svc\` and the command line of tenants write answers for people or, with \`--json\`, for programs. They write no log lines:
  the audit log has what operators changed.
`;

const levels = ['fatal', 'error', 'warn', 'info', 'debug'];

function eventRow([event, { level, message, members, action, says }]: [string, DocumentedEvent]) {
  const text = message ?? `(${says ?? ''})`;
  const names = members.map((name) => `\`${name}\``).join(', ');
  return `| \`${event}\` | ${level} | ${text} | ${names} | ${action ?? ''} |`;
}

function eventTable(events: readonly [string, DocumentedEvent][]): string[] {
  const rooms = [...new Set(events.map(([event]) => event.split('.')[0] ?? ''))];
  const rows = rooms.flatMap((room) =>
    events
      .filter(([event]) => event.startsWith(`${room}.`))
      .toSorted(([, a], [, b]) => levels.indexOf(a.level) - levels.indexOf(b.level))
      .map(eventRow),
  );
  return ['| event | level | message | members | what to do |', '|---|---|---|---|---|', ...rows];
}

function memberTable(members: Readonly<Record<string, string>>): string[] {
  const rows = Object.entries(members).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`);
  return ['| member | meaning |', '|---|---|', ...rows];
}

export function logsPage(): string {
  return [
    head,
    '## Events of services',
    '',
    'If the name of an event begins with `process.`, `redis.` or `queue.`, see the member `service` for the service that wrote the line.',
    '',
    ...eventTable(serviceEvents),
    '',
    '## Members in log lines of services',
    '',
    ...memberTable(logMembers),
    '',
    '## Events of nodes',
    '',
    ...eventTable(nodeEvents),
    '',
    '## Members in log lines of nodes',
    '',
    ...memberTable(nodeLogMembers),
    '',
  ].join('\n');
}
