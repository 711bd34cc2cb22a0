import { expect, test } from 'vitest';
import { InFlight } from './in-flight.ts';

const begin = (inFlight: InFlight, requestId: string): void =>
  inFlight.note('Network.requestWillBeSent', { requestId, request: { url: 'http://a.example/' } });
const end = (inFlight: InFlight, requestId: string): void =>
  inFlight.note('Network.loadingFinished', { requestId });

test.each([
  [1_000, false],
  [1_001, true],
])('of %i requests in flight, the oldest is forgotten: %s', (count, isForgotten) => {
  const inFlight = new InFlight(() => {});
  for (let id = 0; id < count; id += 1) begin(inFlight, String(id));
  for (let id = 1; id < count; id += 1) end(inFlight, String(id));
  expect(inFlight.isEmpty()).toBe(isForgotten);
});
