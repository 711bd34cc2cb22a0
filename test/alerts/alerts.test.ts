import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { boards } from './boards.ts';
import { alertCases } from './cases.ts';
import { dashboardFiles, dashboardsDir } from './dashboards.ts';
import { queryFaults } from './query-faults.ts';
import { readRules, runbooksDir } from './rules.ts';

const rules = readRules();
const alerts = rules.flatMap((rule) =>
  rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }],
);
const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
const alertNames = alerts.map(({ alert }) => alert).toSorted();

test('each alert has a runbook and a line in the list, and each runbook has an alert', () => {
  const list = readFileSync(path.join(runbooksDir, 'README.md'), 'utf8');
  const listed = [...list.matchAll(/^\| \[(\w+)\]\((\w+)\.md\) \| (\w+) \|/gm)];
  expect(
    listed.map(([, name, file, severity]) => `${name} ${file} ${severity}`).toSorted(),
  ).toEqual(alerts.map(({ alert, labels }) => `${alert} ${alert} ${labels?.severity}`).toSorted());
  const files = readdirSync(runbooksDir).filter((file) => file !== 'README.md');
  expect(files.toSorted()).toEqual(alertNames.map((name) => `${name}.md`));
  for (const { alert, annotations } of alerts) {
    expect(annotations?.runbook_url).toBe(`docs/runbooks/${alert}.md`);
    expect(existsSync(path.join(runbooksDir, `${alert}.md`))).toBe(true);
  }
});

test('each rule reads only metrics and labels of the catalogue', () => {
  const faults = rules.flatMap(({ expr, record, alert }) =>
    queryFaults(expr, recorded).map((fault) => `${record ?? alert}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

test('a query with an unknown metric or label has a fault', () => {
  expect(queryFaults('sum(rate(svc_unknown_total[5m]))', recorded)).toHaveLength(1);
  expect(queryFaults('svc_queue_jobs{tenant="t"}', recorded)).toHaveLength(1);
  expect(queryFaults('max by (tenant) (svc_queue_jobs)', recorded)).toHaveLength(1);
  expect(queryFaults('svc_settlement_lag_seconds', recorded)).toHaveLength(1);
});

test('each alert has a case for promtool', () => {
  expect(Object.keys(alertCases).toSorted()).toEqual(alertNames);
});

test('each dashboard is generated, and reads only metrics and labels of the catalogue', () => {
  for (const [name, text] of dashboardFiles()) {
    // If this fails, the file is out of date. `pnpm alerts` writes it again.
    expect(readFileSync(path.join(dashboardsDir, name), 'utf8')).toBe(text);
  }
  const faults = boards.flatMap(({ panels }) =>
    panels.flatMap(([title, { queries }]) =>
      Object.values(queries).flatMap((query) =>
        queryFaults(query, recorded).map((fault) => `${title}: ${fault}`),
      ),
    ),
  );
  expect(faults).toEqual([]);
});
