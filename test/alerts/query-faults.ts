import { metricCatalogue, type MetricDefinition } from '@svc/runtime';

const catalogue: ReadonlyMap<string, MetricDefinition> = new Map(Object.entries(metricCatalogue));
/**
 * Labels that a series may have besides those of the catalogue. Each process adds `service`,
 * Prometheus adds `job` and `instance`, and histograms have `le`.
 */
const commonLabels = ['service', 'job', 'instance', 'le'];
const foreignMetrics =
  /^(up|ALERTS|process_cpu_seconds_total|process_start_time_seconds|process_resident_memory_bytes|nodejs_eventloop_lag_p99_seconds)$/;
const functions =
  /^(absent|avg|bool|by|clamp_max|clamp_min|count|histogram_quantile|increase|max|min|on|or|and|unless|rate|sum|time|vector|without|group_left|ignoring|label_replace|scalar)$/;

/** Undefined if the catalogue defines no such series. */
function definitionOf(series: string): MetricDefinition | undefined {
  const own = catalogue.get(series);
  if (own !== undefined) return own.type === 'histogram' ? undefined : own;
  const histogram = catalogue.get(series.replace(/_(bucket|sum|count)$/, ''));
  return histogram?.type === 'histogram' ? histogram : undefined;
}

/**
 * Finds metrics and labels of a query that do not exist, because promtool accepts such a query.
 * `recorded` has the names of the recording rules.
 */
export function queryFaults(query: string, recorded: ReadonlySet<string>): string[] {
  const faults: string[] = [];
  const allowed = new Set(commonLabels);
  const withoutStrings = query.replaceAll(/"[^"]*"/g, '""').replaceAll(/\[[^\]]*\]/g, '');
  const grouped = /\b(by|on|without|ignoring|group_left)\s*\(([^)]*)\)/g;
  const plain = withoutStrings.replaceAll(grouped, '$1').replaceAll(/\{[^}]*\}/g, '');
  for (const [name] of plain.matchAll(/[a-zA-Z_][\w:]*/g)) {
    if (functions.test(name) || foreignMetrics.test(name) || recorded.has(name)) continue;
    const definition = definitionOf(name);
    if (definition === undefined) faults.push(`the services have no metric ${name}`);
    for (const label of Object.keys(definition?.labels ?? {})) allowed.add(label);
  }
  for (const [, name = '', selector = ''] of withoutStrings.matchAll(/(\w+)\{([^}]*)\}/g)) {
    const own = Object.keys(definitionOf(name)?.labels ?? {});
    for (const [, label = ''] of selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) {
      if ([...commonLabels, ...own, 'alertname', 'alertstate'].includes(label)) continue;
      faults.push(`${name} has no label ${label}`);
    }
  }
  for (const [, , list = ''] of withoutStrings.matchAll(grouped)) {
    for (const label of list.split(',').map((one) => one.trim())) {
      if (label !== '' && label !== 'alertname' && !allowed.has(label)) {
        faults.push(`no metric of the query has the label ${label}`);
      }
    }
  }
  return faults;
}
