import { ApiTimeoutError } from './errors.ts';

/**
 * Runs `work` with a signal that aborts after `timeoutMs` or when `parent` aborts. If `work` fails
 * after the signal has aborted, throws `ApiTimeoutError` or the reason of `parent`.
 */
export async function withTimeLimit<Result>(
  parent: AbortSignal | undefined,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  parent?.throwIfAborted();
  const controller = new AbortController();
  const { signal } = controller;
  const follow = () => controller.abort(parent?.reason);
  parent?.addEventListener('abort', follow);
  const timer = setTimeout(() => {
    controller.abort(new ApiTimeoutError(`No complete answer within ${timeoutMs} ms.`));
  }, timeoutMs);
  try {
    return await work(signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener('abort', follow);
  }
}

/** Resolves after the pause. If `signal` aborts earlier, rejects at once with its reason. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await withTimeLimit(signal, milliseconds, untilAborted);
  } catch (error) {
    if (!(error instanceof ApiTimeoutError)) throw error;
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', reject);
  });
}
