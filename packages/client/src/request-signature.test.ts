import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { requestSigner } from './request-signature.ts';

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

const sign = requestSigner(vectors.secret);

describe('the vectors', () => {
  test.each(vectors.cases)('$name', async ({ timestamp, method, target, body, signature }) => {
    expect(await sign({ timestamp, method, target, body })).toBe(signature);
  });
});
