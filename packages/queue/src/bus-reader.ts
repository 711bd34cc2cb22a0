import { DispatcherBatch, DispatcherMessage } from '@svc/contracts';
import { parseBoundedJson } from '@svc/domain';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** The most characters and the most levels of nesting that a text from the bus may have. */
const textBounds = { charactersMax: 1_048_576, depthMax: 32 };

// Ajv does not check the schemas against the meta-schema, because loading the meta-schema costs 70
// ms of CPU.
const ajv = new Ajv2020({ meta: false, validateSchema: false, strict: true });
/** Ajv caches compiled schemas. Each schema is therefore compiled only once, at its first use. */
const validateMessage = (): ValidateFunction<DispatcherMessage> =>
  ajv.compile<DispatcherMessage>(DispatcherMessage);
const validateBatch = (): ValidateFunction<{ from: string; messages: unknown[] }> =>
  ajv.compile<{ from: string; messages: unknown[] }>(DispatcherBatch);

export interface BusMessages {
  /**
   * The id of the sender. Empty if the sender is not a dispatcher, or if the text from the bus is
   * unreadable.
   */
  readonly from: string;
  readonly messages: readonly DispatcherMessage[];
  /** The number of messages that were dropped. A text that cannot be read counts as one. */
  readonly malformed: number;
}

const unreadable: BusMessages = { from: '', messages: [], malformed: 1 };

/**
 * Reads a text from the bus: a batch, or a single message such as a broadcast. Drops malformed
 * messages and keeps the others. Never throws.
 */
export function readBusMessages(text: string): BusMessages {
  const parsed = parseBoundedJson(text, textBounds);
  if (parsed.kind === 'refused') return unreadable;
  const { value } = parsed;
  const batch = validateBatch()(value) ? value : readSingle(value);
  if (batch === undefined) return unreadable;
  const isValid = validateMessage();
  const messages = batch.messages.filter((message) => isValid(message));
  return { from: batch.from, messages, malformed: batch.messages.length - messages.length };
}

function readSingle(value: unknown): { from: string; messages: unknown[] } | undefined {
  if (typeof value !== 'object' || value === null || !('message' in value)) return undefined;
  if (!('from' in value) || typeof value.from !== 'string') return undefined;
  return { from: value.from, messages: [value.message] };
}
