import { queues, type JobOf, type QueueKey } from '@svc/contracts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

// Ajv does not check the schemas against the meta-schema, because loading that costs 70 ms of CPU.
const ajv = new Ajv2020({ meta: false, validateSchema: false, strict: true });

/** Ajv keeps what it compiled, so each schema is compiled once, at its first job. */
const validatorOf = (key: QueueKey): ValidateFunction => ajv.compile(queues[key].schema);

/** A payload that violates its schema in the catalogue of queues. A retry does not help. */
export class InvalidJob extends Error {
  override readonly name = 'InvalidJob';
}

/**
 * Checks a payload against its schema in the catalogue of queues. Both sender and receiver call it.
 * An incompatible version is then found at once, and no worker misreads the payload. Throws
 * `InvalidJob`.
 */
export function assertJob<K extends QueueKey>(
  key: K,
  payload: unknown,
): asserts payload is JobOf[K] {
  const validate = validatorOf(key);
  if (validate(payload)) return;
  throw new InvalidJob(`${queues[key].name}: ${ajv.errorsText(validate.errors)}`);
}
