import type { BadFrameCode } from '@svc/contracts';
import { surgeNoneMicros } from '@svc/domain';
import { createCounter, createGauge, createMetrics } from '@svc/runtime';

import type { Dispatcher } from './dispatcher.ts';

export type DispatcherMetrics = ReturnType<typeof createDispatcherMetrics>;

/** The figures of one dispatcher, as they stood a second ago at most. */
export function createDispatcherMetrics() {
  const registry = createMetrics('dispatcher');
  const setLinks = createGauge(registry, {
    name: 'svc_dispatcher_links',
    help: 'nodes whose link this dispatcher holds',
  });
  const setRuns = createGauge(registry, {
    name: 'svc_dispatcher_runs',
    help: 'submissions that take a slot of a node linked here',
  });
  const setSurge = createGauge(registry, {
    name: 'svc_surge_multiplier',
    help: 'the surge multiplier as this dispatcher last worked it out',
  });
  const addBadFrame = createCounter(registry, {
    name: 'svc_dispatcher_bad_frames_total',
    help: 'frames of nodes that were answered with an error',
    label: 'code',
  });
  return {
    registry,
    countBadFrame: (code: BadFrameCode): void => addBadFrame(code),
    look({ links }: Dispatcher, multiplierMicros: bigint): void {
      setLinks(links.byNode.size);
      setRuns(links.bySubmission.size);
      setSurge(Number(multiplierMicros) / Number(surgeNoneMicros));
    },
  };
}
