import { expect, test } from 'vitest';
import { readPausedRequest } from './paused-request.ts';

const request = { method: 'POST', url: 'https://jobs.example/apply' };

test('a paused form submission is read', () => {
  const event = {
    requestId: 'a',
    networkId: 'n',
    resourceType: 'Document',
    request: { ...request, postData: 'name=Ada' },
  };
  expect(readPausedRequest(event)).toEqual({
    requestId: 'a',
    networkId: 'n',
    isRedirect: false,
    request: { ...request, bodyText: 'name=Ada', isNavigation: true },
    answer: undefined,
  });
});

test('the text parts of a body with a file are read', () => {
  const parts = [{ bytes: Buffer.from('näme').toString('base64') }, {}, { bytes: btoa('=Ada') }];
  const event = { requestId: 'a', request: { ...request, postDataEntries: parts } };
  expect(readPausedRequest(event)?.request.bodyText).toBe('näme=Ada');
});

test('a long body is read whole, and a request without one has none', () => {
  const long = { requestId: 'a', request: { ...request, postData: 'x'.repeat(300_000) } };
  expect(readPausedRequest(long)?.request.bodyText).toHaveLength(300_000);
  expect(readPausedRequest({ requestId: 'a', request })?.request.bodyText).toBeUndefined();
});

test('an answer is read with its redirect, and a failure without a status', () => {
  const answered = {
    requestId: 'a',
    request,
    redirectedRequestId: 'b',
    responseStatusCode: 303,
    responseHeaders: [{ name: 'Location', value: '/thanks' }],
  };
  expect(readPausedRequest(answered)).toMatchObject({
    isRedirect: true,
    answer: { status: 303, location: '/thanks' },
  });
  const failed = { requestId: 'a', request, responseErrorReason: 'Failed' };
  expect(readPausedRequest(failed)?.answer).toEqual({ status: undefined, location: undefined });
});

test.each([undefined, null, 1, {}, { requestId: 'a' }, { requestId: 1, request }])(
  'the event %j is not read',
  (event) => {
    expect(readPausedRequest(event)).toBeUndefined();
  },
);
