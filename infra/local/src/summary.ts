import { createHash } from 'node:crypto';
import path from 'node:path';
import type { DemoEvents } from './demo-events.ts';
import type { DemoWorld } from './demo-tenant.ts';
import type { RunningServices } from './services.ts';

export function summary(
  services: RunningServices,
  { tenant }: DemoWorld,
  events: DemoEvents,
  employerUrl: string | undefined,
  logsDir: string,
): string {
  const rows = [
    ['API', services.gatewayUrl],
    ['Node link', services.nodeLinkUrl],
    ['Events of the demo tenant', events.place],
    ...(employerUrl === undefined ? [] : [['Demo employer', employerUrl]]),
    ['Tenant id', tenant.tenantId],
    ['HMAC secret', tenant.hmacSecret],
    ['Webhook secret', tenant.webhookSecret],
    ['Logs', path.relative(process.cwd(), logsDir)],
  ];
  return [
    '',
    ...rows.map(([label = '', value]) => `  ${label.padEnd(28)} ${value}`),
    '',
    '  Try next:',
    '',
    '    npx svc status',
    '',
    signedCurl(services.gatewayUrl, tenant),
    '',
    '  Ctrl-C ends everything.',
  ].join('\n');
}

/** The shell commands that send a signed request (CONTRACT 1). */
function signedCurl(
  gatewayUrl: string,
  { tenantId, hmacSecret }: { readonly tenantId: string; readonly hmacSecret: string },
): string {
  const target = '/v1/credits/balance';
  const noBody = createHash('sha256').digest('hex');
  const toSign = `SVC1-HMAC-SHA256\\n%s\\nGET\\n${target}\\n${noBody}`;
  return [
    'now=$(date +%s)',
    `signature=$(printf '${toSign}' "$now" | openssl dgst -sha256 -hmac ${hmacSecret} -r | cut -d' ' -f1)`,
    `curl ${gatewayUrl}${target} -H "X-SVC-Tenant: ${tenantId}" -H "X-SVC-Timestamp: $now" -H "X-SVC-Signature: v1=$signature"`,
  ]
    .map((line) => `    ${line}`)
    .join('\n');
}
