import { Type, type Static } from 'typebox';

/** `GET /ready` (CONTRACT 5). */
export const Ready = Type.Object({ status: Type.Literal('ready') });
export type Ready = Static<typeof Ready>;

/** The body of a 503. `missing` names the dependencies that do not answer. */
export const NotReady = Type.Object({
  status: Type.Literal('not_ready'),
  missing: Type.Array(Type.String()),
});
export type NotReady = Static<typeof NotReady>;
