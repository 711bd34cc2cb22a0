import path from 'node:path';
import type { Browser } from 'playwright-core';
import { type Board, boards } from '../boards.ts';

const range = '5m';
const width = 1_800;
const drawMs = 2_500;
/**
 * The most graphs in one picture: three rows of three. The web interface of Prometheus reads at
 * most ten graphs from a URL.
 */
const graphsOfPicture = 9;

/**
 * CSS that arranges the graphs in three columns. It hides their controls, except the expressions.
 */
const style = `
  .navbar { position: static; }
  #graph_container { display: grid; grid-template-columns: repeat(3, 1fr); gap: 8px; }
  #graph_container > .clearfix, #add_graph, .query_form .form-inline, .query_form .text-right,
  .query_form .col-lg-2, .prometheus_input_group, .nav-tabs { display: none; }
  .query_form .col-lg-10 { flex: 0 0 100%; max-width: 100%; }
  .graph_wrapper { min-width: 0; }
  .expression_input { height: 4.5em; font-size: 11px; }
  .expression_input::first-line { font-size: 18px; }
`;
const addStyle = `document.addEventListener('DOMContentLoaded', () => {
  const element = document.createElement('style');
  element.textContent = ${JSON.stringify(style)};
  document.head.append(element);
});`;

export async function takePictures(
  browser: Browser,
  { url, dir, name }: { readonly url: string; readonly dir: string; readonly name: string },
): Promise<string[]> {
  const pages = [...boards.flatMap(pagesOf), { of: 'alerts', at: '/classic/alerts' }];
  const files: string[] = [];
  for (const { of, at } of pages) {
    const page = await browser.newPage({ viewport: { width, height: 1_000 } });
    await page.addInitScript(addStyle);
    await page.goto(`${url}${at}`);
    await page.waitForTimeout(drawMs);
    const file = path.join(dir, `${name}-${of}.png`);
    await page.screenshot({ path: file, fullPage: true });
    files.push(file);
    await page.close();
  }
  return files;
}

function pagesOf({ uid, panels }: Board) {
  const queries = panels.flatMap(([title, { queries: own }]) =>
    Object.entries(own).map(([legend, query]) =>
      legend.startsWith('{{') ? `# ${title}\n${query}` : `# ${title}: ${legend}\n${query}`,
    ),
  );
  return Array.from({ length: Math.ceil(queries.length / graphsOfPicture) }, (_, index) => {
    const some = queries.slice(index * graphsOfPicture, (index + 1) * graphsOfPicture);
    const of = `${uid.replace('svc-', '')}-${index + 1}`;
    return { of, at: `/classic/graph?${new URLSearchParams(some.flatMap(parametersOf))}` };
  });
}

function parametersOf(query: string, index: number): [string, string][] {
  return [
    [`g${index}.range_input`, range],
    [`g${index}.expr`, query],
    [`g${index}.tab`, '0'],
  ];
}
