import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { signRequest } from './request-signature.ts';

interface SigningVectors {
  readonly secret: string;
  readonly cases: readonly {
    readonly name: string;
    readonly timestamp: number;
    readonly method: string;
    readonly target: string;
    readonly body: string;
    readonly signature: string;
  }[];
}

const vectors: SigningVectors = JSON.parse(
  readFileSync(new URL('../../signing/vectors/request-signing.json', import.meta.url), 'utf8'),
);

describe('the vectors', () => {
  test.each(vectors.cases)('$name', ({ timestamp, method, target, body, signature }) => {
    const request = { secret: vectors.secret, timestampSeconds: timestamp, method, target, body };
    expect(signRequest(request)).toBe(signature);
  });
});
