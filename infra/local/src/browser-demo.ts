import path from 'node:path';
import { type BrowserNode, startBrowserNode } from './browser-node.ts';
import { browserAdvice, findChromium } from './chromium-binary.ts';
import type { Closer } from './closer.ts';
import { browserApplication } from './demo-application.ts';
import { type DemoEmployer, startDemoEmployer } from './demo-employer/employer.ts';
import { type Demo, runDemo } from './demo.ts';
import type { Say } from './progress.ts';
import type { NodeCredentials } from './provisioning.ts';
import { StartError } from './start-error.ts';

export interface BrowserDemoPlace {
  readonly link: string;
  readonly dir: string;
  readonly logsDir: string;
  readonly closer: Closer;
}

/**
 * Runs the demo submission in a real browser. Returns the URL of the demo employer's page, or
 * undefined if no application has arrived there.
 */
export async function runBrowserDemo(
  demo: Omit<Demo, 'application'>,
  place: BrowserDemoPlace,
): Promise<string | undefined> {
  const { progress } = demo;
  const browser = findChromium();
  const credentials = demo.world.browserNode;
  if (browser === undefined || credentials === undefined) {
    progress.print(
      `> No Chromium or Google Chrome was found, so the demo is simulated. ${browserAdvice}`,
    );
    return undefined;
  }
  const employer = await startDemoEmployer();
  await place.closer.add(() => employer.close());
  const start = (say: Say) => startNode({ demo, place, browser, credentials, employer, say });
  try {
    const node = await progress.step('A demo employer, and a node with a browser', start);
    try {
      await runDemo({ ...demo, application: browserApplication });
      await progress.step('The employer', async (say) => sayArrived(employer, say));
    } finally {
      await node.stop();
    }
  } catch (error) {
    // The launch continues after a failed demo. While the stack closes, the error ends the launch.
    if (place.closer.isClosing) throw error;
    progress.print(`    The demo in the browser failed. ${describe(error)}`);
  }
  return employer.applications.length > 0 ? employer.url : undefined;
}

interface NodeStart {
  readonly demo: Omit<Demo, 'application'>;
  readonly place: BrowserDemoPlace;
  readonly browser: string;
  readonly credentials: NodeCredentials;
  readonly employer: DemoEmployer;
  readonly say: Say;
}

async function startNode(start: NodeStart): Promise<BrowserNode> {
  const { demo, place, browser, credentials, employer, say } = start;
  const node = await startBrowserNode({
    link: place.link,
    credentials,
    browser,
    stateDir: path.join(place.dir, 'nodes'),
    logsDir: place.logsDir,
    employerPort: employer.port,
    onLine: (line) => demo.nodeWatch.readLine(credentials.nodeId, line),
  });
  await place.closer.add(() => node.stop());
  say(`the employer's page: ${employer.url}`);
  say(`${browser} runs ${node.confinement}`);
  return node;
}

function sayArrived({ applications, url }: DemoEmployer, say: Say): void {
  const [application] = applications;
  if (application === undefined) {
    say('no application has arrived at the employer');
    return;
  }
  const { number, answers, file } = application;
  say(
    `application ${number} has arrived: ${answers.length} answers, ${file.name} (${file.bytes} bytes)`,
  );
  say(`the page that shows the application: ${url}`);
}

function describe(error: unknown): string {
  if (error instanceof StartError) return `${error.message} ${error.advice}`;
  return error instanceof Error ? error.message : String(error);
}
