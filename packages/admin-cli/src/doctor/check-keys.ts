import { type Deployment, fault, type Finding, ok } from './finding.ts';

/** Each process must hold the key under which any other process seals. */
export function checkKeys({ keyHolders }: Deployment): Finding {
  const sealing = new Set(keyHolders.flatMap(({ keyIds }) => keyIds.slice(0, 1)));
  const lacking = keyHolders.flatMap(({ service, host, keyIds }) => {
    const missing = [...sealing].filter((id) => !keyIds.includes(id));
    return missing.length === 0 ? [] : `${service} on ${host} lacks ${missing.join(', ')}`;
  });
  if (lacking.length === 0)
    return ok('master keys', `${keyHolders.length} processes hold the keys that seal`);
  return fault(
    'master keys',
    lacking.join('; '),
    'Add the missing keys to SVC_MASTER_KEY of these processes, after the present one, and restart them.',
  );
}
