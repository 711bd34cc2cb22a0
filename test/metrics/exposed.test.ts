import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  allServices,
  metricCatalogue,
  type MetricDefinition,
  type MetricService,
} from '@svc/runtime';
import { waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import { application, type Journey, startJourney } from '../support/journey.ts';
import { metricsPage } from './table.ts';

const catalogue: [string, MetricDefinition][] = Object.entries(metricCatalogue);

test('the page of metrics is generated from the catalogue', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/METRICS.md'), 'utf8');
  // `pnpm metrics:docs` writes this page again from the catalogue.
  expect(page).toBe(metricsPage());
});

function namingFaults([name, { type, labels, help }]: [string, MetricDefinition]): string[] {
  return [
    ...(/^svc_[a-z][a-z_]*$/.test(name) ? [] : ['form']),
    ...(name.endsWith('_total') === (type === 'counter') ? [] : ['_total']),
    ...(type !== 'histogram' || name.endsWith('_seconds') ? [] : ['_seconds']),
    ...(/_(ms|millis|milliseconds|minutes|kb|mb)(_|$)/.test(name) ? ['unit'] : []),
    ...(help.endsWith('.') ? ['help'] : []),
    ...Object.keys(labels).filter((label) => /tenant|url|host|id$/.test(label)),
  ];
}

test('names follow the conventions of Prometheus', () => {
  const faults = catalogue.map((entry) => [entry[0], namingFaults(entry)]);
  expect(faults.filter(([, found]) => found?.length !== 0)).toEqual([]);
});

async function scrape({ stack }: Journey, service: MetricService): Promise<string> {
  return await (await fetch(`${stack.adminUrl(service)}/metrics`)).text();
}

function expectedOf(service: MetricService): [string, MetricDefinition][] {
  return catalogue.filter(
    ([, { services, onlyIf }]) => services.includes(service) && onlyIf === undefined,
  );
}

function isCounted(text: string, name: string, label: string): boolean {
  return text
    .split('\n')
    .some((line) => line.startsWith(`${name}{`) && line.includes(label) && !line.endsWith(' 0'));
}

test('each service shows the metrics of the catalogue, and counts a submission from request to webhook', async () => {
  const journey = await startJourney({ nodes: 1 });
  const { client, tenant } = journey;
  const { submissionId } = await client.submit(application('counted'));
  await client.waitFor(submissionId, { timeoutMs: 20_000 });
  const mustCount: [MetricService, string, string?][] = [
    ['gateway', 'svc_gateway_request_duration_seconds_count'],
    ['dispatcher', 'svc_dispatcher_offer_duration_seconds_count', 'answer="accepted"'],
    ['dispatcher', 'svc_dispatcher_frame_duration_seconds_count', 'type="completed"'],
    ['dispatcher', 'svc_dispatcher_frame_duration_seconds_count', 'type="hello"'],
    ['dispatcher', 'svc_queue_job_duration_seconds_count', 'result="done"'],
    ['settlement', 'svc_settlement_lag_seconds_count'],
    ['settlement', 'svc_store_batched_calls_total'],
    ['webhooks', 'svc_webhook_attempt_duration_seconds_count', 'result="responded"'],
    ['webhooks', 'svc_webhook_first_attempt_lag_seconds_count'],
  ];
  for (const [service, name, label = ''] of mustCount) {
    const what = `${service} to count ${name} ${label}`;
    await waitUntil(async () => isCounted(await scrape(journey, service), name, label), { what });
  }
  for (const service of allServices) {
    const text = await scrape(journey, service);
    const shown = [...text.matchAll(/^# TYPE (svc_\w+) (\w+)$/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    );
    const expected = expectedOf(service).map(([name, { type }]) => `${name} ${type}`);
    expect([service, ...shown.toSorted()]).toEqual([service, ...expected.toSorted()]);
    expect(text).not.toContain(tenant.tenantId);
    for (const line of text.split('\n')) {
      const [, name = '', labels = ''] =
        /^(svc_\w+?)(?:_bucket|_sum|_count)?\{(.*)\}/.exec(line) ?? [];
      if (name === '') continue;
      const definition = new Map(catalogue).get(name);
      const allowed = ['service', 'le', ...Object.keys(definition?.labels ?? {})];
      for (const [, label] of labels.matchAll(/(\w+)="/g)) expect(allowed).toContain(label);
    }
  }
});
