import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const prometheusDir = path.join(import.meta.dirname, '../../infra/prometheus');
export const runbooksDir = path.join(import.meta.dirname, '../../docs/runbooks');
export const ruleFiles: readonly string[] = ['recording-rules.yml', 'alert-rules.yml'].map((file) =>
  path.join(prometheusDir, file),
);

/** A rule of Prometheus. It has either `record` or `alert`. */
export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly runbook_url?: string };
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

export function readRules(): Rule[] {
  return ruleFiles.flatMap((file) => {
    const content: RuleFile = parse(readFileSync(file, 'utf8'));
    return content.groups.flatMap(({ rules }) => rules);
  });
}
