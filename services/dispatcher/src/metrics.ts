import type { BadFrameCode } from '@svc/contracts';
import { surgeNoneMicros } from '@svc/domain';
import { createCounter, createGauge, createMetrics } from '@svc/runtime';
import type { Dispatcher } from './dispatcher.ts';

export type DispatcherMetrics = ReturnType<typeof createDispatcherMetrics>;

/** The metrics of one dispatcher. The gauges are at most one second old. */
export function createDispatcherMetrics() {
  const registry = createMetrics('dispatcher');
  const setLinks = createGauge(registry, {
    name: 'svc_dispatcher_links',
    help: 'nodes linked to this dispatcher',
  });
  const setRuns = createGauge(registry, {
    name: 'svc_dispatcher_runs',
    help: 'submissions that take a slot of a node linked to this dispatcher',
  });
  const setSurge = createGauge(registry, {
    name: 'svc_surge_multiplier',
    help: 'the surge multiplier that this dispatcher last computed',
  });
  const addBadFrame = createCounter(registry, {
    name: 'svc_dispatcher_bad_frames_total',
    help: 'frames from nodes that this dispatcher answered with an error',
    label: 'code',
  });
  return {
    registry,
    countBadFrame: (code: BadFrameCode): void => addBadFrame(code),
    update({ links }: Dispatcher, multiplierMicros: bigint): void {
      setLinks(links.byNode.size);
      setRuns(links.bySubmission.size);
      setSurge(Number(multiplierMicros) / Number(surgeNoneMicros));
    },
  };
}
