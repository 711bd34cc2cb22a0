import { queues, type JobOf, type QueueKey } from '@svc/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';

// Ajv does not check TypeBox's schemas against the meta-schema: compiling that costs 50 ms of CPU.
const ajv = new Ajv2020({ validateSchema: false, strict: true });

const validators = {
  dispatch: ajv.compile<JobOf['dispatch']>(queues.dispatch.schema),
  settlement: ajv.compile<JobOf['settlement']>(queues.settlement.schema),
  webhook: ajv.compile<JobOf['webhook']>(queues.webhook.schema),
} as const;

/** A payload that is not what the catalogue of queues says; trying again does not help. */
export class InvalidJob extends Error {
  override readonly name = 'InvalidJob';
}

/**
 * Checks a payload against the catalogue of queues, on sending and on receiving alike: a producer
 * of another version must be found at once, and not by a worker that half understands it.
 * Throws `InvalidJob`.
 */
export function assertJob<K extends QueueKey>(
  key: K,
  payload: unknown,
): asserts payload is JobOf[K] {
  const validate = validators[key];
  if (validate(payload)) return;
  throw new InvalidJob(`${queues[key].name}: ${ajv.errorsText(validate.errors)}`);
}
