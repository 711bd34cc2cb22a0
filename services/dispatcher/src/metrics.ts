import { surgeNoneMicros } from '@svc/domain';
import {
  createCounter,
  createDurations,
  createGauge,
  createMetrics,
  exposeGauge,
} from '@svc/runtime';
import type { Dispatcher } from './dispatcher.ts';
import type { DispatcherObserver } from './observer.ts';

export type DispatcherMetrics = ReturnType<typeof createDispatcherMetrics>;

export function createDispatcherMetrics() {
  const registry = createMetrics('dispatcher');
  const setSurge = createGauge(registry, 'svc_surge_multiplier');
  const addBadFrame = createCounter(registry, 'svc_dispatcher_bad_frames_total');
  const timeFrame = createDurations(registry, 'svc_dispatcher_frame_duration_seconds');
  const timeOffer = createDurations(registry, 'svc_dispatcher_offer_duration_seconds');
  const observer: DispatcherObserver = {
    countBadFrame: (code) => addBadFrame(code),
    timeFrame: (type, durationMs) => timeFrame({ type }, durationMs / 1000),
    timeOffer: (answer, durationMs) => timeOffer({ answer }, durationMs / 1000),
  };
  return {
    registry,
    observer,
    setSurge: (micros: bigint) => setSurge(Number(micros) / Number(surgeNoneMicros)),
    exposeDispatcher({ links, offerings }: Dispatcher): void {
      exposeGauge(registry, 'svc_dispatcher_links', (set) => set({}, links.byNode.size));
      exposeGauge(registry, 'svc_dispatcher_runs', (set) => set({}, links.bySubmission.size));
      exposeGauge(registry, 'svc_dispatcher_offerings', (set) => set({}, offerings.size));
    },
  };
}
