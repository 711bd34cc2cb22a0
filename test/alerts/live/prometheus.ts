import { writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  dieWithParent,
  freePort,
  type PrometheusPrograms,
  serviceNames,
  startServer,
} from '@svc/local';
import { stringify } from 'yaml';
import type { ServiceUnderTest } from '../../faults/world/types.ts';
import { ruleFiles } from '../rules.ts';

export interface Prometheus {
  readonly url: string;
  firing(): Promise<string[]>;
  stop(): Promise<void>;
}

interface AlertsAnswer {
  readonly data: {
    readonly alerts: readonly {
      readonly state: string;
      readonly labels: { readonly alertname: string };
    }[];
  };
}

/** The interval of scrapes and of alert rules. Recording rules keep their own interval. */
const intervalSeconds = 2;

export async function startPrometheus(
  { prometheus, webAssets }: PrometheusPrograms,
  dir: string,
  services: readonly ServiceUnderTest[],
): Promise<Prometheus> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = path.join(dir, 'prometheus.yml');
  writeFileSync(config, configuration(services));
  const { stop } = await startServer({
    name: 'Prometheus',
    command: [
      ...dieWithParent('KILL'),
      prometheus,
      `--config.file=${config}`,
      `--storage.tsdb.path=${path.join(dir, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      `--web.local-assets=${webAssets}`,
    ],
    logFile: path.join(dir, 'prometheus.log'),
    stopSignal: 'SIGTERM',
    isReady: () =>
      fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
  });
  return {
    url,
    stop,
    async firing() {
      const response = await fetch(`${url}/api/v1/alerts`);
      const { data }: AlertsAnswer = JSON.parse(await response.text());
      const names = data.alerts.flatMap(({ state, labels }) =>
        state === 'firing' ? labels.alertname : [],
      );
      return [...new Set(names)];
    },
  };
}

/** The scrape jobs have the names that docs/OPERATIONS.md asks for. */
function configuration(services: readonly ServiceUnderTest[]): string {
  const interval = `${intervalSeconds}s`;
  return stringify({
    global: { scrape_interval: interval, evaluation_interval: interval },
    rule_files: ruleFiles,
    scrape_configs: serviceNames.map((name) => ({
      job_name: `svc-${name}`,
      static_configs: [
        {
          targets: services.flatMap(({ service, process: { ready } }) =>
            service === name ? `127.0.0.1:${ready.adminPort}` : [],
          ),
        },
      ],
    })),
  });
}
