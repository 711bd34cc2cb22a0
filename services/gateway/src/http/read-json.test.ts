import { describe, expect, test } from 'vitest';
import { readJson } from './read-json.ts';

const contentEncoding = undefined;

function read(body: string | Buffer, contentType: string | undefined = 'application/json') {
  const reading = readJson({ body: Buffer.from(body), contentType, contentEncoding });
  if (reading.kind === 'json') return 'json';
  const paths = reading.extras.errors?.map((error) => `${error.path}: ${error.message}`);
  return [reading.code, ...(paths ?? [])].join(' ');
}

describe('the media type', () => {
  test.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json; charset="UTF-8"',
    'application/json; charset=utf-8; v=1',
    'application/json ; v=1',
  ])('%s is accepted', (contentType) => {
    expect(read('{}', contentType)).toBe('json');
  });

  test.each([
    '',
    'text/plain',
    'application/jsonp',
    'application/problem+json',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'text/plain; application/json',
  ])('%j is refused', (contentType) => {
    expect(read('{}', contentType)).toBe('unsupported_media_type');
  });

  test('any content encoding is refused', () => {
    const body = Buffer.from('{}');
    expect(
      readJson({ body, contentType: 'application/json', contentEncoding: 'gzip' }),
    ).toMatchObject({ code: 'unsupported_media_type' });
  });

  test('the media type is checked before the JSON', () => {
    expect(read('{', 'text/plain')).toBe('unsupported_media_type');
  });
});

describe('the text', () => {
  test('an empty body needs no content type, and is refused as JSON', () => {
    const body = Buffer.alloc(0);
    expect(readJson({ body, contentType: undefined, contentEncoding })).toMatchObject({
      code: 'validation_error',
    });
  });

  test('malformed JSON is reported by its position and never quoted', () => {
    expect(read('{"secret-name" 1}')).toBe(
      "validation_error : expected ':' after a member name (line 1, column 16)",
    );
  });

  test('bytes that are not UTF-8 are refused', () => {
    expect(read(Buffer.from([0x22, 0xff, 0x22]))).toBe(
      'validation_error : must be encoded as UTF-8',
    );
  });

  test('U+0000 and lone surrogates are refused anywhere in the body', () => {
    expect(read('{"payload":{"applicantProfile":{"a":["\\u0000"],"\\ud800":1}}}')).toBe(
      'validation_error /payload/applicantProfile/a/0: must not contain U+0000 ' +
        '/payload/applicantProfile: has a member whose name contains half of a surrogate pair',
    );
  });
});
