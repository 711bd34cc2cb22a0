import type { NotReady, Ready } from '@svc/contracts';
import { json } from '../http/answer.ts';
import type { OpenEndpoint } from '../http/endpoint.ts';

/** `GET /ready` (CONTRACT 5): needs no authentication and names the unavailable dependencies. */
export function readyEndpoint(missing: () => Promise<readonly string[]>): OpenEndpoint {
  return {
    access: 'open',
    method: 'get',
    path: '/ready',
    async handle() {
      const names = await missing();
      if (names.length === 0) return json(200, { status: 'ready' } satisfies Ready);
      return json(503, { status: 'not_ready', missing: [...names] } satisfies NotReady);
    },
  };
}
