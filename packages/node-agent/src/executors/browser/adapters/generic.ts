import type { Adapter } from './adapter.ts';
import { refusalByStatus } from './answers.ts';
import { actionOrFilledValue } from './requests.ts';

/**
 * The adapter for an unknown ATS. A field gets its meaning only from its label, placeholder or
 * `autocomplete`. Only a sentence on the page proves success.
 */
export const generic: Adapter = {
  name: 'generic',
  reading: {
    root: undefined,
    roles: [],
    fieldError:
      '[role="alert"], .error, .error-message, .field-error, .invalid-feedback, .form-error',
    canUsePlaceholder: true,
    submit: undefined,
  },
  upload: {
    working: '.uploading, .progress',
    done: '.upload-done, .filename',
    failed: '.upload-error',
  },
  submissionOf: actionOrFilledValue,
  success: { isSentenceEnough: true },
  refusalIn: refusalByStatus,
  closed: {
    sentences: [
      'This job is no longer available',
      'This job is no longer open',
      'This position is no longer available',
      'This position has been filled',
      'This posting is closed',
      'This job posting has expired',
      'This job has expired',
      'We are no longer accepting applications for this position',
      'We are no longer accepting applications',
      'No longer accepting applications',
      'Applications are closed',
      'The application period has ended',
      'Job not found',
    ],
  },
};
