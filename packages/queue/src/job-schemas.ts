import { queues, type JobOf, type QueueKey } from '@svc/contracts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

// Ajv does not check the schemas against the meta-schema, because loading the meta-schema costs 70
// ms of CPU.
const ajv = new Ajv2020({ meta: false, validateSchema: false, strict: true });

/** Ajv caches compiled schemas. Each schema is therefore compiled once, at its first job. */
const validatorOf = (key: QueueKey): ValidateFunction => ajv.compile(queues[key].schema);

/** A payload that violates its schema in the catalogue of queues. A retry does not help. */
export class InvalidJob extends Error {
  override readonly name = 'InvalidJob';
}

/** Checks a payload against its schema in the catalogue of queues. Throws `InvalidJob`. */
export function assertJob<K extends QueueKey>(
  key: K,
  payload: unknown,
): asserts payload is JobOf[K] {
  const validate = validatorOf(key);
  if (validate(payload)) return;
  throw new InvalidJob(`${queues[key].name}: ${ajv.errorsText(validate.errors)}`);
}
