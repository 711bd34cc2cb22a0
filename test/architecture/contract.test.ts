import { readFileSync } from 'node:fs';
import path from 'node:path';
import { apiOperations, openApiDocument } from '@svc/contracts';
import {
  deliveryStatuses,
  errorCatalogue,
  errorCodes,
  eventTypes,
  failureCodes,
  statementTypes,
  wireStatuses,
} from '@svc/domain';
import { expect, test } from 'vitest';

const contract = readFileSync(path.resolve(import.meta.dirname, '../../docs/CONTRACT.md'), 'utf8');

function section(number: number): string {
  const [, text = ''] = contract.split(new RegExp(`^## ${number}\\. `, 'm'));
  return text.split(/^## \d+\. /m, 1)[0] ?? '';
}

function rowsOf(text: string, code: string): string[] {
  return text.split('\n').filter((line) => line.startsWith('| ') && line.includes(`\`${code}\``));
}

test.each(errorCodes)('CONTRACT 2 has the error %s with its status', (code) => {
  const { status } = errorCatalogue[code];
  const rows = rowsOf(section(2), code).filter((row) => row.startsWith(`| ${status} |`));
  expect(rows).toHaveLength(1);
});

test.each(eventTypes)('CONTRACT 6 has the event %s', (type) => {
  expect(rowsOf(section(6), type)).toHaveLength(1);
});

test.each([...failureCodes, ...wireStatuses, ...deliveryStatuses, ...statementTypes])(
  'CONTRACT 5 has the value %s',
  (value) => {
    expect(section(5)).toContain(`\`${value}\``);
  },
);

const paths = [...new Set(apiOperations.map((operation) => operation.path))];

test.each(paths)('the contract has the endpoint %s', (endpoint) => {
  const names = [endpoint, endpoint.replace('/v1/credits/purchase-intents/', '…/')];
  expect(names.some((name) => contract.includes(name))).toBe(true);
});

function membersIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'properties' in value ? Object.keys(value.properties ?? {}) : [];
  return [...own, ...Object.values(value).flatMap(membersIn)];
}

test.each([...new Set(membersIn(openApiDocument()))].toSorted())(
  'the contract has the member %s',
  (name) => {
    expect(contract).toMatch(new RegExp(`\\b${name}\\b`));
  },
);
