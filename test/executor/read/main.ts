import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { chromiumBinary } from '@svc/local';
import { chromium, type Page } from 'playwright-core';
import {
  findForm,
  readForm,
} from '../../../packages/node-agent/src/executors/browser/page/index.ts';
import {
  planForm,
  readProfile,
} from '../../../packages/node-agent/src/executors/browser/planner/index.ts';
import { payloadTextOf } from '../run-job.ts';

/**
 * `pnpm executor:read DIR|FILE|URL… [--profile FILE] [--scripts]`: prints forms as the executor
 * reads them, and the fields that the profile fills. Sends nothing.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { profile: { type: 'string' }, scripts: { type: 'boolean', default: false } },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function addressesOf(source: string): Promise<string[]> {
  if (/^https?:\/\//u.test(source)) return [source];
  if (/\.html?$/iu.test(source)) return [pathToFileURL(path.resolve(source)).href];
  const files = await readdir(source, { recursive: true });
  return files
    .filter((file) => /\.html?$/iu.test(file))
    .toSorted()
    .map((file) => pathToFileURL(path.resolve(source, file)).href);
}

async function profileOf() {
  const text = values.profile === undefined ? '{}' : await readFile(values.profile, 'utf8');
  const reading = readProfile(payloadTextOf('https://jobs.example/', 'generic', JSON.parse(text)));
  if (reading.kind === 'invalid') throw new Error(reading.message);
  return reading.profile;
}

interface Counts {
  readonly fields: number;
  readonly named: number;
  readonly required: number;
}

async function readPageAt(page: Page, address: string): Promise<Counts | undefined> {
  await page.goto(address, { waitUntil: 'domcontentloaded' });
  const signal = AbortSignal.timeout(30_000);
  const found = await findForm(page, { hint: '', status: undefined, signal, onAction: () => {} });
  if (found.kind === 'failed') {
    say(`${address}: no form (${found.code})`);
    return undefined;
  }
  const form = await readForm(found.target);
  if (form === undefined) return undefined;
  const { fields } = form.model;
  const { fills, missing } = planForm(form.model, profile);
  say(`${address}: ${found.target.adapter.name}, ${fields.length} fields`);
  for (const field of fields) {
    const isFilled = fills.some((fill) => fill.field === field);
    const words = [
      field.kind,
      field.isRequired ? 'required' : 'optional',
      field.role === undefined ? '' : `means ${field.role}`,
      isFilled ? 'filled' : missing.includes(field) ? 'missing' : 'left',
      field.options === undefined ? '' : `options ${JSON.stringify(field.options.slice(0, 12))}`,
      field.headings === undefined ? '' : `below ${JSON.stringify(field.headings)}`,
    ];
    say(`  ${JSON.stringify(field.label)}: ${words.filter((word) => word !== '').join(', ')}`);
  }
  return {
    fields: fields.length,
    named: fields.filter(({ label }) => label !== '').length,
    required: fields.filter(({ isRequired }) => isRequired).length,
  };
}

const profile = await profileOf();
const addresses = (await Promise.all(positionals.map(addressesOf))).flat();
const browser = await chromium.launch({ executablePath: await chromiumBinary() });
const forms: Counts[] = [];
try {
  const context = await browser.newContext({ javaScriptEnabled: values.scripts });
  for (const address of addresses) {
    const page = await context.newPage();
    try {
      const counts = await readPageAt(page, address);
      if (counts !== undefined) forms.push(counts);
    } catch (error) {
      say(`${address}: ${error instanceof Error ? error.message.split('\n')[0] : 'unreadable'}`);
    } finally {
      await page.close();
    }
  }
} finally {
  await browser.close();
}
const sum = (of: (counts: Counts) => number): number =>
  forms.reduce((total, counts) => total + of(counts), 0);
say(
  `${addresses.length} pages: ${forms.length} forms, ${sum(({ fields }) => fields)} fields, ${sum(({ named }) => named)} named, ${sum(({ required }) => required)} required`,
);
