import { offerRecordsMax } from '@svc/domain';
import { describe, expect, test } from 'vitest';
import {
  answerMsMin,
  beginOffering,
  expiresInMs,
  nextStep,
  searchAgainAfterMs,
  searchAgainSoonMs,
  silentOffers,
  withNobodyFound,
  withOffer,
  withoutOffer,
  withoutOffers,
  withSearchPutOff,
  type Offering,
} from './offer.ts';

const begun = beginOffering(1_000, { remainingMs: 5_000, asOf: new Date(0) });

const declinedAt = { answer: 'declined', atMs: 1_310 } as const;

function asking(offering: Offering, name: string, openedAtMs: number): Offering {
  return withOffer(offering, { offerId: name, nodeId: name, dispatcherId: 'd', openedAtMs });
}

describe('offering', () => {
  test('searches for a node at once', () => {
    expect(nextStep(begun, 1_000)).toEqual({ kind: 'search' });
  });

  test('gives up at once if no slot is free', () => {
    expect(nextStep(withNobodyFound(begun, 1_000), 1_000)).toEqual({ kind: 'give_up' });
  });

  test('asks a second node once the only open offer is 300 ms old', () => {
    const one = asking(begun, 'a', 1_000);
    expect(nextStep(one, 1_000)).toEqual({ kind: 'wait', untilMs: 1_300 });
    expect(nextStep(one, 1_299)).toEqual({ kind: 'wait', untilMs: 1_300 });
    expect(nextStep(one, 1_300)).toEqual({ kind: 'search' });
  });

  test('never has more than two offers open', () => {
    const two = asking(asking(begun, 'a', 1_000), 'b', 1_300);
    expect(nextStep(two, 2_900)).toEqual({ kind: 'wait', untilMs: 3_250 });
  });

  test('replaces one of two offers at once when it is declined and the other is 300 ms old', () => {
    const two = asking(asking(begun, 'a', 1_000), 'b', 1_300);
    expect(nextStep(withoutOffer(two, 'b', declinedAt), 1_310)).toEqual({ kind: 'search' });
    expect(nextStep(withoutOffer(two, 'a', declinedAt), 1_310)).toEqual({
      kind: 'wait',
      untilMs: 1_600,
    });
  });

  test('asks the next node at once when the only one declines, and never asks a node twice', () => {
    const declined = withoutOffer(asking(begun, 'a', 1_000), 'a', declinedAt);
    expect(nextStep(declined, 1_010)).toEqual({ kind: 'search' });
    expect(declined.askedNodeIds).toEqual(['a']);
  });

  test('gives up when the last node declines and no other is free', () => {
    const searched = withNobodyFound(asking(begun, 'a', 1_000), 1_300);
    expect(nextStep(searched, 1_300)).toEqual({
      kind: 'wait',
      untilMs: 1_300 + searchAgainAfterMs,
    });
    const declined = withoutOffer(searched, 'a', declinedAt);
    expect(nextStep(declined, 1_310)).toEqual({ kind: 'search' });
    expect(nextStep(withNobodyFound(declined, 1_310), 1_310)).toEqual({ kind: 'give_up' });
  });

  test('asks no node that could not answer before the deadline and would count as silent', () => {
    const atMs = 6_000 - answerMsMin + 1;
    expect(nextStep(begun, atMs - 1)).toEqual({ kind: 'search' });
    expect(nextStep(begun, atMs)).toEqual({ kind: 'give_up' });
    expect(nextStep(asking(begun, 'a', 5_000), atMs)).toEqual({ kind: 'wait', untilMs: 6_000 });
  });

  test('searches again soon if a search could not find out whether a node is free', () => {
    const postponed = withSearchPutOff(begun, 1_000);
    expect(nextStep(postponed, 1_000)).toEqual({
      kind: 'wait',
      untilMs: 1_000 + searchAgainSoonMs,
    });
  });

  test('ends at the dispatch deadline, also with an open offer', () => {
    const one = asking(begun, 'a', 5_900);
    expect(nextStep(one, 5_999)).toEqual({ kind: 'wait', untilMs: 6_000 });
    expect(nextStep(one, 6_000)).toEqual({ kind: 'give_up' });
  });

  test('gives a node 2 s to answer, or the time that is left', () => {
    expect(expiresInMs(begun, 1_000)).toBe(2_000);
    expect(expiresInMs(begun, 4_500.4)).toBe(1_499);
    expect(expiresInMs(begun, 5_999.9)).toBe(1);
  });

  test('ends an offer whose dispatcher reports nothing in time', () => {
    const two = asking(asking(begun, 'a', 1_000), 'b', 1_300);
    expect(silentOffers(two, 3_249)).toEqual([]);
    expect(silentOffers(two, 3_250).map(({ offerId }) => offerId)).toEqual(['a']);
  });

  test('an answer about an offer that is no longer open changes nothing', () => {
    const one = asking(begun, 'a', 1_000);
    expect(withoutOffer(one, 'b', declinedAt)).toBe(one);
  });
});

describe('the records of the offers', () => {
  test('are in the order in which the offers ended, by the clock of the database', () => {
    const two = asking(asking(begun, 'a', 1_000), 'b', 1_300);
    const declined = withoutOffer(two, 'b', { answer: 'declined', reason: 'busy', atMs: 1_310 });
    expect(withoutOffers(declined, { answer: 'revoked', atMs: 1_320 }).records).toEqual([
      {
        offerId: 'b',
        nodeId: 'b',
        answer: 'declined',
        reason: 'busy',
        offeredAt: '1970-01-01T00:00:00.300Z',
        answeredAt: '1970-01-01T00:00:00.310Z',
      },
      {
        offerId: 'a',
        nodeId: 'a',
        answer: 'revoked',
        offeredAt: '1970-01-01T00:00:00.000Z',
        answeredAt: '1970-01-01T00:00:00.320Z',
      },
    ]);
  });

  test('are kept only for the latest offers', () => {
    let offering = begun;
    for (let asked = 0; asked <= offerRecordsMax; asked += 1) {
      offering = withoutOffer(asking(offering, `n${asked}`, 1_000), `n${asked}`, declinedAt);
    }
    expect(offering.records.map(({ nodeId }) => nodeId)).toEqual(
      Array.from({ length: offerRecordsMax }, (_, index) => `n${index + 1}`),
    );
  });
});
