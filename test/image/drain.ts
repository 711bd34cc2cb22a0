import { type ServiceName, serviceNames, type WebhookReceiver } from '@svc/local';
import { check, say } from './checks.ts';
import type { Containers } from './containers.ts';
import type { Engine } from './engine.ts';
import { checkStart } from './measured.ts';
import { application, type OutsideTenant } from './tenant.ts';

const submissions = 6;
/** The 10 s in which a service drains, and a reserve for the stop of its container. */
const drainMsMax = 12_000;
/**
 * The longest wait for the final events. If a node does not return, the lease of its submission
 * ends within 60 s. Two retries of a webhook take about 65 s. The rest is a reserve.
 */
const finalMsMax = 180_000;
const finalEvents = ['submission.completed', 'submission.failed', 'submission.cancelled'];

export interface Drained {
  readonly engine: Engine;
  readonly containers: Containers;
  readonly tenant: OutsideTenant;
}

export async function checkDrain({ engine, containers, tenant }: Drained): Promise<void> {
  const { receiver, client } = tenant;
  const keys = Array.from({ length: submissions }, (_, index) => `in-flight-${index}`);
  const created = await Promise.all(keys.map((key) => client.submit(application(key))));
  const ids = created.map(({ submissionId }) => submissionId);
  const stoppedMs = await Promise.all(serviceNames.map((name) => stop(engine, name)));
  for (const [index, name] of serviceNames.entries()) {
    const { State: state } = await containers.inspect(name);
    const ms = stoppedMs[index] ?? 0;
    check(
      `${name} drains on SIGTERM`,
      state.ExitCode === 0 && ms <= drainMsMax,
      `exit code ${state.ExitCode} after ${(ms / 1000).toFixed(1)} s`,
    );
  }
  const atStop = endsOf(receiver, ids).size;
  say(
    `        ${ids.length - atStop} of ${ids.length} final events had not arrived when all services had stopped`,
  );
  for (const name of serviceNames) {
    await engine.podman('start', name);
    await checkStart(containers, name);
  }
  await waitForEnds(receiver, ids);
  const ends = endsOf(receiver, ids);
  for (const id of ids) {
    const { status } = await client.getSubmission(id);
    const events = [...(ends.get(id) ?? [])];
    const holds = events.length === 1 && events[0]?.startsWith(eventOfStatus(status)) === true;
    check(
      `${id} must have exactly one final event, which fits its status`,
      holds,
      `${status}: ${events.join(', ') || 'none'}`,
    );
  }
}

async function stop(engine: Engine, name: ServiceName): Promise<number> {
  const startedMs = performance.now();
  await engine.podman('stop', name);
  return performance.now() - startedMs;
}

async function waitForEnds(receiver: WebhookReceiver, ids: readonly string[]): Promise<void> {
  const untilMs = performance.now() + finalMsMax;
  for (const id of ids) {
    const isFinal = (type: string, submissionId: unknown) =>
      submissionId === id && finalEvents.includes(type);
    await receiver
      .waitFor(({ event }) => isFinal(event.type, event.data['submissionId']), {
        timeoutMs: Math.max(1, Math.round(untilMs - performance.now())),
      })
      .catch(() => {});
  }
}

/** The distinct final events of each submission. A retry of a delivery counts as the same event. */
function endsOf(receiver: WebhookReceiver, ids: readonly string[]): Map<string, Set<string>> {
  const ends = new Map<string, Set<string>>();
  for (const { event, deliveryId } of receiver.received) {
    const id = String(event.data['submissionId']);
    if (!ids.includes(id) || !finalEvents.includes(event.type)) continue;
    const failure = event.data['failure'];
    const reason = failure === undefined ? '' : ` ${JSON.stringify(failure)}`;
    const events = ends.get(id) ?? new Set();
    ends.set(id, events.add(`${event.type} (${deliveryId})${reason}`));
  }
  return ends;
}

/** The event that reports an end with this status (CONTRACT 6). */
function eventOfStatus(status: string): string {
  return status === 'submitted' ? 'submission.completed' : `submission.${status}`;
}
