import { isTemporary } from '../retry.ts';
import type { PolledEvent } from '../types.ts';
import { type CommandContext, plain, urlOf } from './context.ts';
import { type EventTypes, type ListenedEndpoint, openEndpoint } from './endpoint.ts';
import { CommandError, explain } from './failure.ts';
import { forward } from './forward.ts';

const waitSeconds = 25;
const pageSize = 10;
const pauseFirstMs = 1_000;
const pauseMaxMs = 30_000;

export interface ListenOptions {
  readonly forwardTo?: string | undefined;
  /** The types of the events, separated by commas. Undefined: all types. */
  readonly events?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Prints the events of a tenant until `signal` aborts, and forwards them in order if `forwardTo` is
 * set (decision 37). An event may be printed and forwarded twice.
 */
export async function listen(
  context: CommandContext,
  { forwardTo, events, name }: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  const url = forwardTo === undefined ? undefined : urlOf(forwardTo);
  if (forwardTo !== undefined && !/^https?:$/.test(url?.protocol ?? '')) {
    throw new CommandError('--forward-to must be an address like http://localhost:3000/hooks.', 2);
  }
  const endpoint = await openEndpoint(context, { name, events: eventTypes(events) });
  try {
    report(context, { kind: 'ready', endpointId: endpoint.id, secret: context.webhookSecret }, [
      `Listening to the events of ${context.tenantId} through the endpoint ${endpoint.id}. Press Ctrl-C to stop.`,
      ...(url ? [`Secret for the receiver at ${url.href}: ${context.webhookSecret}`] : []),
    ]);
    await readEvents(context, endpoint, url, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await closeEndpoint(context, endpoint);
  }
}

/**
 * Does not check the types, because the service checks them and may know newer types than this
 * program.
 */
function eventTypes(text: string | undefined): EventTypes {
  return text === undefined ? null : JSON.parse(JSON.stringify(text.split(',')));
}

async function closeEndpoint(context: CommandContext, endpoint: ListenedEndpoint): Promise<void> {
  try {
    await endpoint.close();
  } catch (error) {
    report(context, { kind: 'warning', message: explain(error), endpointId: endpoint.id }, [
      `The endpoint ${endpoint.id} could not be deleted. If it still exists, delete it with the API. ${explain(error)}`,
    ]);
  }
}

async function readEvents(
  context: CommandContext,
  endpoint: ListenedEndpoint,
  url: URL | undefined,
  signal: AbortSignal,
): Promise<void> {
  let { after } = endpoint;
  let failures = 0;
  for (;;) {
    try {
      const query = { ...(after === undefined ? {} : { after }), limit: pageSize, waitSeconds };
      const page = await context.client.pollWebhookEvents(endpoint.id, query, { signal });
      failures = 0;
      for (const event of page.data) await handle(context, url, event, signal);
      after = page.nextCursor;
      // The cursor is stored after the whole page is handled, so that no event is skipped.
      if (page.data.length > 0) await endpoint.keep(after);
    } catch (error) {
      if (signal.aborted || !isTemporary(error)) throw error;
      const pauseMs = backoffMs(failures);
      failures += 1;
      report(context, { kind: 'warning', message: explain(error), pauseMs }, [
        `${explain(error)} Trying again in ${pauseMs / 1000} s.`,
      ]);
      await context.pause(pauseMs, signal);
    }
  }
}

function backoffMs(failures: number): number {
  return Math.min(pauseFirstMs * 2 ** failures, pauseMaxMs);
}

async function handle(
  context: CommandContext,
  url: URL | undefined,
  event: PolledEvent,
  signal: AbortSignal,
): Promise<void> {
  const { id, type, timestamp, deliveryId, data } = event;
  report(context, { kind: 'event', deliveryId, event: { id, type, timestamp, data } }, [
    `${timestamp}  ${type}  ${deliveryId}  ${JSON.stringify(data)}`,
  ]);
  if (url === undefined) return;
  for (let attempt = 1; ; attempt += 1) {
    const { isOk, status, text, durationMs } = await forward(context, url, event, attempt, signal);
    const pauseMs = isOk ? 0 : backoffMs(attempt - 1);
    const answer = status === undefined ? `no answer: ${text}` : `${status} ${text}`.trim();
    report(
      context,
      { kind: 'forwarded', deliveryId, attempt, isOk, status: status ?? null, text, durationMs },
      [
        `  -> ${url.href}  ${answer}  (${Math.round(durationMs)} ms)`,
        ...(isOk
          ? []
          : [`     The address did not accept the event. Trying again in ${pauseMs / 1000} s.`]),
      ],
    );
    if (isOk) return;
    await context.pause(pauseMs, signal);
  }
}

function report(
  { write, isJson }: CommandContext,
  record: Readonly<Record<string, unknown>>,
  lines: readonly string[],
): void {
  for (const line of isJson ? [JSON.stringify(record)] : lines) write(isJson ? line : plain(line));
}
