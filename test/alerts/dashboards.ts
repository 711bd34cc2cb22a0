import path from 'node:path';
import {
  type Dashboard,
  type Panel,
  SortOrder,
  TooltipDisplayMode,
  VisibilityMode,
} from '@grafana/schema';
import type {
  FieldConfig,
  Options,
} from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
import { type Board, boards } from './boards.ts';

export const dashboardsDir = path.join(import.meta.dirname, '../../infra/grafana');

const width = 12;
const height = 8;
const schemaVersion = 39;
const datasource = { type: 'prometheus', uid: '${datasource}' };

/**
 * The type `Panel` accepts any `options` and any `custom` settings of fields. These two constants
 * have the types of the time series plugin instead, so that the compiler checks them.
 */
const options: Options = {
  legend: {
    calcs: [],
    placement: 'bottom',
    showLegend: true,
  },
  tooltip: { mode: TooltipDisplayMode.Multi, sort: SortOrder.Descending },
};
const custom: FieldConfig = { showPoints: VisibilityMode.Never, spanNulls: false };

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
    fieldConfig: { defaults: { unit, min: 0, custom: { ...custom } }, overrides: [] },
    options: { ...options },
  };
}

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

/** The text of each file of `infra/grafana`, by the name of the file. */
export function dashboardFiles(): ReadonlyMap<string, string> {
  return new Map(
    boards.map((board) => [
      `${board.uid.replace('svc-', '')}.json`,
      `${JSON.stringify(dashboardOf(board), undefined, 2)}\n`,
    ]),
  );
}
