import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first. A slow file that starts last would run alone at the end,
 * while the other cores are idle. Files that are not in this list follow in Vitest's order.
 */
const longest = [
  'test/faults/faults.test.ts',
  'test/executor/faults/faults.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/interleaving/interleaving.test.ts',
  'test/fleet/model/model.test.ts',
  'packages/node-agent/src/main.test.ts',
  'test/executor/fence.test.ts',
  'test/executor/matrix/matrix.test.ts',
  'test/journeys/crashes.test.ts',
  'packages/node-agent/src/privacy.test.ts',
  'test/executor/egress.test.ts',
  'test/executor/fence-targets.test.ts',
  'test/journeys/operators.test.ts',
  'packages/store/src/cost.test.ts',
  'infra/local/src/launcher.test.ts',
  'test/costs/costs.test.ts',
  'test/journeys/two-environments.test.ts',
  'test/mutation/mutation.test.ts',
  'test/journeys/sandbox-page.test.ts',
  'test/journeys/two-of-each.test.ts',
  'test/browser/signup.test.ts',
  'test/journeys/webhooks.test.ts',
  'test/journeys/operators-master-key.test.ts',
  'test/conformance/errors.test.ts',
  'test/journeys/lifecycle.test.ts',
  'packages/admin-cli/src/svc.test.ts',
  'packages/store/src/connection/lost-answers.test.ts',
  'test/journeys/operators-refusals.test.ts',
  'test/journeys/refusals-at-start.test.ts',
  'test/fleet/processes/processes.test.ts',
  'test/journeys/at-most-once.test.ts',
  'infra/local/src/bootstrap.test.ts',
  'test/simulation/simulation.test.ts',
];

/** Sorts the files of a run. Give it to Vitest as `sequence.sequencer`. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const inVitestsOrder = await BaseSequencer.prototype.sort.call(this, files);
    return inVitestsOrder.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

function placeOf({ moduleId, project }: TestSpecification): number {
  const place = longest.indexOf(path.relative(project.config.root, moduleId));
  return place === -1 ? longest.length : place;
}
