import type { CDPSession } from 'playwright-core';
import { fieldsOf, textOf } from './paused-request.ts';

type CdpMethod = Parameters<CDPSession['send']>[0];
type CdpParameters = Parameters<CDPSession['send']>[1];

/** A session of the DevTools protocol with one target, such as a page, a frame or a worker. */
export interface CdpSession {
  /**
   * Rejects if the target refuses the command, or is closed.
   */
  send(method: CdpMethod, params?: CdpParameters): Promise<unknown>;
}

export type CdpListener = (method: string, params: unknown) => void;

export function sessionOf(session: CDPSession): CdpSession {
  return { send: (method, params) => session.send(method, params) };
}

interface Waiting extends PromiseWithResolvers<unknown> {
  readonly sessionId: string;
}

/**
 * The sessions of targets inside another target. Their messages travel inside messages of the
 * parent session (decision 28).
 */
export class NestedSessions {
  readonly #parent: CdpSession;
  readonly #listeners = new Map<string, CdpListener>();
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(parent: CdpSession) {
    this.#parent = parent;
  }

  open(sessionId: string, listener: (session: CdpSession) => CdpListener): CdpSession {
    const session: CdpSession = {
      send: (method, params = {}) => {
        const id = (this.#lastId += 1);
        const waiting = { sessionId, ...Promise.withResolvers<unknown>() };
        this.#waiting.set(id, waiting);
        const message = JSON.stringify({ id, method, params });
        this.#parent
          .send('Target.sendMessageToTarget', { sessionId, message })
          .catch((error: unknown) => this.#take(id)?.reject(error));
        return waiting.promise;
      },
    };
    this.#listeners.set(sessionId, listener(session));
    return session;
  }

  /** The number of open sessions. */
  get size(): number {
    return this.#listeners.size;
  }

  /** Forgets a session whose target is closed, and rejects its commands. */
  close(sessionId: string): void {
    this.#listeners.delete(sessionId);
    for (const [id, waiting] of this.#waiting) {
      if (waiting.sessionId === sessionId)
        this.#take(id)?.reject(new Error('the target is closed'));
    }
  }

  /**
   * Handles a `Target.receivedMessageFromTarget` event of the parent session. Does nothing if the
   * nested session is unknown.
   */
  receive(params: unknown): void {
    const { sessionId, message } = fieldsOf(params);
    const listener = this.#listeners.get(textOf(sessionId) ?? '');
    if (listener === undefined) return;
    const fields = fieldsOf(JSON.parse(textOf(message) ?? '{}'));
    const { id, method, result, error } = fields;
    if (typeof id !== 'number') return listener(textOf(method) ?? '', fields['params']);
    const waiting = this.#take(id);
    if (error === undefined) waiting?.resolve(result);
    else
      waiting?.reject(
        new Error(textOf(fieldsOf(error)['message']) ?? 'the browser refused a command'),
      );
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }
}
