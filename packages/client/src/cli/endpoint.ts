import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { WebhookEndpointRequest } from '../types.ts';
import type { CommandContext } from './context.ts';
import { CommandError, reasonOf } from './failure.ts';

/**
 * The types of events that an endpoint receives. Null: all types. The service refuses types that it
 * does not know.
 */
export type EventTypes = NonNullable<WebhookEndpointRequest['events']> | null;

export interface ListenedEndpoint {
  readonly id: string;
  /** The listener reads the events after this cursor. Undefined: it reads from the oldest event. */
  readonly after: string | undefined;
  /** Stores the cursor for the next start. Does nothing if the endpoint has no name. */
  readonly keep: (cursor: string) => Promise<void>;
  /** Deletes the endpoint, unless it has a name. */
  readonly close: () => Promise<void>;
}

const deletionTimeoutMs = 10_000;

/**
 * Opens an endpoint that receives `events`. With `name`, reuses the endpoint of that name or
 * creates it. Without `name`, creates one that `close` deletes.
 */
export async function openEndpoint(
  context: CommandContext,
  options: { readonly name?: string | undefined; readonly events: EventTypes },
): Promise<ListenedEndpoint> {
  const { client } = context;
  const { name, events } = options;
  if (name === undefined) {
    const { id } = await client.createWebhookEndpoint({
      url: null,
      description: 'svc listen',
      events,
    });
    return {
      id,
      after: undefined,
      keep: () => Promise.resolve(),
      close: async () => {
        await client.deleteWebhookEndpoint(id, { timeoutMs: deletionTimeoutMs });
      },
    };
  }
  const description = `svc listen: ${name}`;
  const { data } = await client.listWebhookEndpoints();
  const found = data.find((one) => one.kind === 'poll' && one.description === description);
  const { id } = found ?? (await client.createWebhookEndpoint({ url: null, description, events }));
  if (found !== undefined && JSON.stringify(found.events) !== JSON.stringify(events)) {
    await client.changeWebhookEndpoint(id, { events });
  }
  const file = path.join(context.stateDir, `listen-${id}`);
  return {
    id,
    after: found === undefined ? undefined : await readCursor(file),
    keep: (cursor) => writeCursor(file, cursor),
    close: () => Promise.resolve(),
  };
}

async function readCursor(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim() || undefined;
  } catch {
    // If the file is missing or cannot be read, the listener begins at the oldest event.
    return undefined;
  }
}

async function writeCursor(file: string, cursor: string): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(`${file}.new`, cursor, { mode: 0o600 });
    await rename(`${file}.new`, file);
  } catch (error) {
    const hint = 'Set XDG_STATE_HOME to a folder that you can write to.';
    throw new CommandError(
      `The position in the list of events could not be stored: ${reasonOf(error)}. ${hint}`,
    );
  }
}
