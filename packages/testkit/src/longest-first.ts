import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first. If a slow file started last, it would run alone, with the
 * other cores idle.
 */
const longest = [
  'test/executor/field/field.test.ts',
  'test/executor/matrix/matrix.test.ts',
  'test/executor/faults/faults.test.ts',
  'test/interleaving/interleaving.test.ts',
  'test/faults/faults.test.ts',
  'packages/node-agent/src/executors/browser/job/hostile-page.test.ts',
  'packages/node-agent/src/executors/browser/job/outcome-proof.test.ts',
  'packages/node-agent/src/executors/browser/job/sent-once.test.ts',
  'infra/local/src/launcher.test.ts',
  'test/costs/costs.test.ts',
  'test/upgrade/upgrade.test.ts',
  'test/journeys/crashes.test.ts',
  'test/mutation/mutation.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/fleet/model/model.test.ts',
  'test/simulation/simulation.test.ts',
  'test/executor/fence.test.ts',
  'test/journeys/lifecycle.test.ts',
  'packages/node-agent/src/main.test.ts',
  'test/journeys/webhooks.test.ts',
  'test/journeys/sandbox-page.test.ts',
  'packages/node-agent/src/privacy.test.ts',
  'test/browser/signup.test.ts',
  'test/journeys/operators.test.ts',
  'test/journeys/two-of-each.test.ts',
  'test/solana/hostile-rpc.test.ts',
  'test/executor/egress.test.ts',
  'test/conformance/errors.test.ts',
  'test/journeys/at-most-once.test.ts',
  'packages/node-agent/src/executors/browser/page/fill-form.test.ts',
  'packages/node-agent/src/executors/browser/chromium/open-browser.test.ts',
  'test/journeys/operators-refusals.test.ts',
  'test/journeys/readme.test.ts',
  'packages/store/src/connection/lost-answers.test.ts',
  'test/journeys/refusals-at-start.test.ts',
  'test/pgbouncer/pgbouncer.test.ts',
  'packages/store/src/cost.test.ts',
  'test/journeys/two-environments.test.ts',
  'test/bench/measure.test.ts',
  'test/journeys/fleet-offers.test.ts',
  'test/clients/clients.test.ts',
  'test/journeys/operators-scale.test.ts',
  'packages/node-agent/src/executors/browser/job/apply-on-page.test.ts',
  'packages/node-agent/src/executors/browser/page/read-form.test.ts',
  'test/journeys/fleet-deploys.test.ts',
  'packages/node-agent/src/executors/browser/page/find-form.test.ts',
  'test/conformance/account.test.ts',
  'services/settlement/src/housekeeping.test.ts',
  'test/browser/pay-page.test.ts',
  'test/fleet/processes/processes.test.ts',
  'packages/admin-cli/src/svc.test.ts',
  'packages/contracts/src/openapi/compatibility.test.ts',
];

/** Starts the longest test files first. Give this class to Vitest as `sequence.sequencer`. */
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
