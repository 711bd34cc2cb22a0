import { Type, type Static } from 'typebox';

/** The answer of `GET /ready` if the service is ready (CONTRACT 5). */
export const Ready = Type.Object({ status: Type.Literal('ready') });
export type Ready = Static<typeof Ready>;

/** The body of the 503 of `GET /ready`. `missing` names the dependencies that do not answer. */
export const NotReady = Type.Object({
  status: Type.Literal('not_ready'),
  missing: Type.Array(Type.String()),
});
export type NotReady = Static<typeof NotReady>;
