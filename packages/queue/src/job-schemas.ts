import { queues, type JobOf, type QueueKey } from '@svc/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';

// Ajv does not check TypeBox's schemas against the meta-schema: compiling that costs 50 ms of CPU.
const ajv = new Ajv2020({ validateSchema: false, strict: true });

const validators = {
  dispatch: ajv.compile<JobOf['dispatch']>(queues.dispatch.schema),
  settlement: ajv.compile<JobOf['settlement']>(queues.settlement.schema),
  webhook: ajv.compile<JobOf['webhook']>(queues.webhook.schema),
} as const;

/** A payload that violates its schema in the catalogue of queues. A retry does not help. */
export class InvalidJob extends Error {
  override readonly name = 'InvalidJob';
}

/**
 * Checks a payload against its schema in the catalogue of queues. Both sender and receiver call it,
 * so that an incompatible version is found at once instead of by a worker that misreads the
 * payload. Throws `InvalidJob`.
 */
export function assertJob<K extends QueueKey>(
  key: K,
  payload: unknown,
): asserts payload is JobOf[K] {
  const validate = validators[key];
  if (validate(payload)) return;
  throw new InvalidJob(`${queues[key].name}: ${ajv.errorsText(validate.errors)}`);
}
