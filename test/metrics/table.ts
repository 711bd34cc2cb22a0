import { metricCatalogue, type MetricDefinition } from '@svc/runtime';

const head = `# Metrics

Every service shows its metrics in the format of Prometheus at \`/metrics\` of its admin port (\`ADMIN_PORT\`). This page is
generated from the catalogue in \`packages/runtime/src/metrics\` with \`pnpm metrics:docs\`.

- Durations are in seconds. A counter ends in \`_total\`. The label \`service\` names the service.
- A label has few values. No label contains a tenant, a submission, a host or a URL.
- A metric of scope \`process\` differs between processes: add them (\`sum\`). One of scope \`shared\` is a figure of the
  whole service, which each process shows: take the largest (\`max\`).
- Settlement reads the figures of queues, submissions, deliveries and nodes in Postgres and Redis every 15 seconds.
  A scrape reads neither. Its duration does not depend on the number of tenants.
- Every process also shows the default metrics of Node.js (\`process_*\`, \`nodejs_*\`). The most useful is
  \`nodejs_eventloop_lag_p99_seconds\`: the process is overloaded if it stays above 0.2.
`;

function row([name, { type, services, scope, labels, help, onlyIf }]: [string, MetricDefinition]) {
  const labelText = Object.entries(labels).map(([label, values]) => `\`${label}\`: ${values}`);
  const condition = onlyIf === undefined ? '' : `. Only if ${onlyIf}`;
  return `| \`${name}\` | ${type} | ${services.length === 4 ? 'all' : services.join(', ')} | ${scope} | ${labelText.join('; ')} | ${help}${condition} |`;
}

export function metricsPage(): string {
  const rows = Object.entries(metricCatalogue)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(row);
  return [
    head,
    '| metric | type | services | scope | labels | meaning |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
