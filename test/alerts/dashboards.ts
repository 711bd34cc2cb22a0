import path from 'node:path';
import type { Dashboard, Panel } from '@grafana/schema';
import { type Board, boards } from './boards.ts';

export const dashboardsDir = path.join(import.meta.dirname, '../../infra/grafana');

const width = 12;
const height = 8;
const schemaVersion = 39;
const datasource = { type: 'prometheus', uid: '${datasource}' };

function panelOf([title, { unit, queries }]: Board['panels'][number], index: number): Panel {
  return {
    type: 'timeseries',
    id: index + 1,
    title,
    datasource,
    gridPos: {
      x: (index % 2) * width,
      y: Math.floor(index / 2) * height,
      w: width,
      h: height,
    },
    targets: Object.entries(queries).map(([legendFormat, expr], target) => ({
      refId: 'ABCDEFGH'.charAt(target),
      datasource,
      expr,
      legendFormat,
    })),
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom', showLegend: true } },
  };
}

/** The dashboard in the format of Grafana. The compiler checks it against Grafana's schema. */
function dashboardOf({ uid, title, panels }: Board): Dashboard {
  return {
    uid,
    title,
    schemaVersion,
    editable: false,
    tags: ['svc'],
    timezone: 'utc',
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }],
    },
    panels: panels.map(panelOf),
  };
}

/** The files of `infra/grafana` by name. */
export function dashboardFiles(): ReadonlyMap<string, string> {
  return new Map(
    boards.map((board) => [
      `${board.uid.replace('svc-', '')}.json`,
      `${JSON.stringify(dashboardOf(board), undefined, 2)}\n`,
    ]),
  );
}
