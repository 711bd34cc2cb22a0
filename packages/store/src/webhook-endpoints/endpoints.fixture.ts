import { testAuthor } from '@svc/testkit';
import { claimDue, type ClaimedAttempt } from '../deliveries/claims.ts';
import { findDueTargets } from '../deliveries/deliveries.ts';
import { cancelSubmission } from '../endings/endings.ts';
import type { Fixture } from '../store.fixture.ts';
import { createEndpoint } from './changes.ts';

interface EndpointOptions {
  readonly url?: string | null;
  readonly events?: string[] | null;
}

/** Functions for tests of webhook endpoints. An endpoint has `url` unless a test names another. */
export function endpointTools(fixture: Fixture, url: string) {
  const { store } = fixture;

  /** Creates an endpoint and returns its id. */
  const endpoint = async (tenantId: string, options: EndpointOptions = {}): Promise<string> => {
    const created = await createEndpoint(
      store,
      { tenantId, url, events: null, description: null, secret: 'whsec_Mg==', ...options },
      testAuthor,
    );
    if (created.kind !== 'created') throw new Error(created.kind);
    return created.endpoint.id;
  };

  /** Creates and cancels a submission, which writes an event. */
  const cancelOne = async (tenantId: string): Promise<void> => {
    const { id: submissionId } = await fixture.hold(tenantId);
    await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  };

  /** Claims the due attempts for the URL of the settings and for all endpoints. */
  const claimAll = async (tenantId: string): Promise<ClaimedAttempt[]> => {
    const { targets } = await findDueTargets(store, { afterTargetId: null, limit: 100 });
    const own = targets.filter((target) => target.tenantId === tenantId);
    const asks = [{ tenantId, targetId: null }, ...own].map((ask) => ({ ...ask, attemptsMax: 8 }));
    return (await claimDue(store, asks)).flatMap(({ attempts }) => attempts);
  };

  return { endpoint, cancelOne, claimAll };
}
