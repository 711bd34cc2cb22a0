import type { Trial } from './trials.ts';

const none = { kind: 'none' } as const;
const atOnce = { kind: 'answer', bytes: 0 } as const;
/** This cut is inside the body of the answer, because the head has about 120 bytes. */
const inBody = { kind: 'answer', bytes: 140 } as const;

export const namedTrials = {
  'cut-http1': { protocol: 'http1', sender: 'form', cut: atOnce },
  'cut-http1-tls': { protocol: 'http1-tls', sender: 'form', cut: atOnce },
  'cut-http2-tls': { protocol: 'http2-tls', sender: 'form', cut: atOnce },
  'cut-body': { protocol: 'http1', sender: 'fetch', cut: inBody },
  'retrying-page': { protocol: 'http1', sender: 'retryingFetch', cut: atOnce },
  'double-submit': { protocol: 'http1', sender: 'doubleFetch', cut: none },
  'repeating-redirect': { protocol: 'http1', sender: 'moved', cut: none },
  'broken-journal': { protocol: 'http1', sender: 'form', cut: none, isJournalBroken: true },
} as const satisfies Readonly<Record<string, Trial>>;

export type TrialName = keyof typeof namedTrials;
