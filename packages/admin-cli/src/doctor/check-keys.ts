import { type Deployment, fault, type Finding, ok } from './finding.ts';

/** Each process must hold every key under which values may be sealed. */
export function checkKeys({ keyHolders, sealingKeys }: Deployment): Finding {
  const lacking = keyHolders.flatMap(({ service, host, keyIds }) => {
    const missing = sealingKeys.filter((id) => !keyIds.includes(id));
    return missing.length === 0 ? [] : `${service} on ${host} lacks ${missing.join(', ')}`;
  });
  if (lacking.length === 0)
    return ok('master keys', `${keyHolders.length} processes hold the keys that seal`);
  return fault(
    'master keys',
    lacking.join('; '),
    'Add the missing keys to SVC_MASTER_KEY of these processes, after the present one, and restart them. If no process seals under such a key any more, `svc master-key rotate` with both keys seals its values again.',
  );
}
