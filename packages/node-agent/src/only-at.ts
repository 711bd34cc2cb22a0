import { memberValue, parseJsonDocument } from '@svc/domain';
import { type Executor, JobFailed } from './executor.ts';

/**
 * Returns an executor that applies only at `hosts` (CONTRACT 10, "Running it"). It checks the offer,
 * and again the URL of the assignment. An empty list allows all hosts.
 */
export function onlyAt(hosts: readonly string[], executor: Executor): Executor {
  if (hosts.length === 0) return executor;
  return {
    ...executor,
    consider: (offer) => (hosts.includes(offer.targetHost) ? executor.consider?.(offer) : 'policy'),
    async run(job, context) {
      const host = hostOf(job.payloadText);
      if (host !== undefined && hosts.includes(host)) return await executor.run(job, context);
      const message = 'The owner of the node does not allow applications at this host.';
      throw new JobFailed('site_unreachable', message, { retriable: false });
    },
  };
}

/** Undefined if the payload has no readable `applicationUrl`. */
function hostOf(payloadText: string): string | undefined {
  const parsing = parseJsonDocument(payloadText);
  if (parsing.kind === 'malformed' || parsing.document.root.kind !== 'object') return undefined;
  const node = memberValue(parsing.document.root, 'applicationUrl');
  return node?.kind === 'string' ? URL.parse(node.value)?.hostname : undefined;
}
