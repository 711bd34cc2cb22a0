/** Requests that cost a careless parser far more than their size suggests. */

export interface WorstCase {
  readonly name: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The most bytes of the costly text in a body. The whole body stays below 256 KiB. */
const bodyRoom = 256 * 1024 - 1_024;
const targetRoom = 15_000;

function repeated(unit: string, room: number, separator = ''): string {
  const count = Math.floor(room / (unit.length + separator.length));
  return Array.from({ length: count }, () => unit).join(separator);
}

function numbered(room: number, write: (index: number) => string, separator: string): string {
  const parts: string[] = [];
  for (let length = 0, index = 0; length < room; index += 1) {
    const part = write(index);
    length += part.length + separator.length;
    if (length < room) parts.push(part);
  }
  return parts.join(separator);
}

function nested(levels: number, inner = ''): string {
  return `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
}

export const worstQueries: readonly WorstCase[] = [
  { name: 'names', query: numbered(targetRoom, (index) => `a${index.toString(36)}`, '&') },
  { name: 'one name many times', query: repeated('limit=1', targetRoom, '&') },
  { name: 'empty parameters', query: repeated('&', targetRoom) },
  { name: 'escapes', query: `limit=${repeated('%25', targetRoom)}` },
  { name: 'escaped names', query: repeated('%41%00', targetRoom, '&') },
  { name: 'a long cursor', query: `cursor=${repeated('A', targetRoom)}` },
];

export const worstHeaders: readonly WorstCase[] = [
  {
    name: 'spaces within a signature',
    headers: { 'X-SVC-Signature': `v1=a${' '.repeat(targetRoom)}b` },
  },
  { name: 'many signatures', headers: { 'X-SVC-Signature': repeated('v1=a', targetRoom, ',') } },
  { name: 'a long identity', headers: { 'X-SVC-Tenant': `tnt_${'0'.repeat(targetRoom)}` } },
  { name: 'a long timestamp', headers: { 'X-SVC-Timestamp': '1'.repeat(targetRoom) } },
  { name: 'a long request id', headers: { 'x-request-id': 'a'.repeat(targetRoom) } },
  {
    name: 'parameters of a media type',
    headers: { 'content-type': `application/json${repeated('; charset =', targetRoom)}` },
  },
  {
    name: 'spaces in a media type',
    headers: { 'content-type': `application/json;${' '.repeat(targetRoom)}x` },
  },
  { name: 'forwarded addresses', headers: { 'x-forwarded-for': repeated('::1', targetRoom, ',') } },
];

/** A little less than the most values of a body (CONTRACT 2, "Values"), so that all are read. */
const valuesRead = 9_900;
const textLength = 18;

function readValues(write: (index: number) => string): string {
  return Array.from({ length: valuesRead }, (_, index) => write(index)).join(',');
}

const mostValues: Readonly<Record<string, string>> = {
  'as many numbers as are read': `{"a":[${readValues(() => '1'.repeat(textLength))}]}`,
  'as many empty objects as are read': `{"a":[${readValues(() => '{}')}]}`,
  'as many escapes as are read': `{"a":[${readValues(() => '"\\n\\u00e9\\n"')}]}`,
  'as many members as are read': `{${readValues((index) => `"k${'k'.repeat(textLength)}${index}":1`)}}`,
};

const worstValues: Readonly<Record<string, string>> = {
  ...mostValues,
  numbers: `{"a":[${repeated('1', bodyRoom, ',')}]}`,
  strings: `{"a":[${repeated('""', bodyRoom, ',')}]}`,
  escapes: `{"a":[${repeated('"\\n"', bodyRoom, ',')}]}`,
  'empty objects': `{"a":[${repeated('{}', bodyRoom, ',')}]}`,
  'members of one name': `{${repeated('"":1', bodyRoom, ',')}}`,
  members: `{${numbered(bodyRoom, (index) => `"k${index.toString(36)}":1`, ',')}}`,
  'members with the same long beginning': `{${numbered(bodyRoom, (index) => `"${'k'.repeat(256)}${index}":1`, ',')}}`,
  'exponents of 999 digits': `{"a":[${repeated(`1e${'9'.repeat(999)}`, bodyRoom, ',')}]}`,
  'one number': `{"a":${'1'.repeat(bodyRoom)}}`,
  'numbers in 240 nested arrays': `{"a":${nested(240, repeated('1', bodyRoom - 480, ','))}}`,
  'deep arrays side by side': `{"a":[${repeated(nested(198), bodyRoom, ',')}]}`,
  'unsafe strings': `{"a":[${repeated('"\\u0000"', bodyRoom, ',')}]}`,
};

const worstTexts: Readonly<Record<string, string>> = {
  'arrays that never end': '['.repeat(bodyRoom),
  'objects that never end': repeated('{"a":', bodyRoom),
  spaces: ' '.repeat(bodyRoom),
  lines: '\n'.repeat(bodyRoom),
  'a string without an end': `"${'a'.repeat(bodyRoom)}`,
};

function submissionWith(member: string, text: string): string {
  const members: Record<string, string> = {
    idempotencyKey: '"worst"',
    jobType: '"ats.application"',
    applicationUrl: '"https://a.example/"',
    atsType: '"x"',
    applicantProfile: '{}',
    jobContext: '{"title":"t","company":"c"}',
    [member]: text,
  };
  const { idempotencyKey, jobType, ...payload } = members;
  const written = Object.entries(payload).map(([name, value]) => `"${name}":${value}`);
  return `{"idempotencyKey":${idempotencyKey},"jobType":${jobType},"payload":{${written.join(',')}}}`;
}

/** Bodies of submissions. Each has one costly member. `/v1/quotes` gets the same bodies. */
export const worstSubmissions: readonly WorstCase[] = [
  ...Object.entries(worstValues).map(([name, value]) => ({
    name: `a profile of ${name}`,
    body: submissionWith('applicantProfile', value),
  })),
  ...Object.entries({
    'with one long label': `https://${'a'.repeat(bodyRoom)}.com/`,
    'of many labels': `https://${repeated('a.', bodyRoom)}com/`,
    'of letters beyond ASCII': `https://${repeated('é', bodyRoom / 2)}.com/`,
    'with a long path': `https://a.example/${repeated('é', bodyRoom / 2)}`,
  }).map(([name, url]) => ({
    name: `a URL ${name}`,
    body: submissionWith('applicationUrl', JSON.stringify(url)),
  })),
  ...['idempotencyKey', 'jobType', 'atsType'].map((member) => ({
    name: `a long ${member}`,
    body: submissionWith(member, JSON.stringify('😀'.repeat(bodyRoom / 4))),
  })),
];

export const worstBodies: readonly WorstCase[] = [
  ...Object.entries(worstValues).map(([name, body]) => ({ name: `a body of ${name}`, body })),
  ...Object.entries(worstTexts).map(([name, body]) => ({ name: `a body of ${name}`, body })),
];

const formRoom = 8 * 1024 - 16;
const formType = { 'content-type': 'application/x-www-form-urlencoded' };

/**
 * The worst bodies for endpoints that need no signature. The first body is larger than
 * `openBodyBytesMax` (8 KiB), and the other bodies are smaller.
 */
export const worstForms: readonly WorstCase[] = [
  {
    name: 'a form of 38,889 fields',
    headers: formType,
    body: numbered(bodyRoom, (index) => `a${index}`, '&'),
  },
  {
    name: 'a form with as many fields as fit in 8 KiB',
    headers: formType,
    body: numbered(formRoom, (index) => index.toString(36), '&'),
  },
  {
    name: 'a form of one field, whose value is only percent-escapes',
    headers: formType,
    body: `name=${repeated('%25', formRoom)}`,
  },
  { name: 'numbers', body: `[${repeated('1', formRoom, ',')}]` },
];

/** A submission with one long text in its profile, about as large as each of `worstSubmissions`. */
export const plainBody = submissionWith(
  'applicantProfile',
  `{"a":${JSON.stringify('x'.repeat(bodyRoom))}}`,
);
