import type { Failure } from '../../../packages/node-agent/src/executor.ts';
import type { Behaviour } from '../employers/behaviours.ts';

/** How the job of a `Cell` must end. CONTRACT 10 has a table of the failure codes. */
export type Expected =
  | { readonly kind: 'completed'; readonly steps: number }
  | {
      readonly kind: 'failed';
      readonly code: Failure['code'];
      /**
       * True if the employer received the application. If false, the failure must say that nothing
       * was submitted. If true, the failure must not say so.
       */
      readonly isReceived: boolean;
      /** The label of a form field, which the failure's message must contain. */
      readonly label?: string;
    };

const completed: Expected = { kind: 'completed', steps: 1 };

function refusedBefore(code: Failure['code'], label?: string): Expected {
  return { kind: 'failed', code, isReceived: false, ...(label !== undefined && { label }) };
}

function refusedAfter(code: Failure['code'], label?: string): Expected {
  return { kind: 'failed', code, isReceived: true, ...(label !== undefined && { label }) };
}

export function expectedOf(behaviour: Behaviour): Expected {
  switch (behaviour) {
    case 'success':
    case 'invisible-captcha':
    case 'optional-empty':
    case 're-render':
    case 'late-render':
    case 'double-submit':
      return completed;
    case 'multi-step':
      return { kind: 'completed', steps: 3 };
    case 'posting-closed':
      return refusedBefore('posting_closed');
    case 'visible-challenge':
      return refusedBefore('captcha');
    case 'sign-in-wall':
      return refusedBefore('login_required');
    case 'missing-answer':
      return refusedBefore('invalid_payload', 'Which colour do you like best?');
    case 'upload-refused':
      return refusedBefore('invalid_payload', 'Resume');
    case 'captcha-refused':
      return refusedAfter('captcha');
    case 'field-errors':
      return refusedAfter('invalid_payload', 'Email');
    case 'refusal-200':
      return refusedAfter('ats_rejected');
    case 'error-500':
    case 'cut':
      return refusedAfter('node_error');
  }
}
