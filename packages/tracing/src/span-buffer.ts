import type { SpanExport } from './export-spans.ts';
import { placeSpan, subjectsOf, type TenantContexts } from './place-spans.ts';
import type { EndedSpan } from './span-data.ts';

/**
 * The result of the export of a span. If `close` resolves before the export has ended, the span may
 * get no result.
 */
export type SpanResult = 'exported' | 'buffer_full' | 'export_failed';

/** The most spans that wait for the export. Further ones are dropped and counted. */
export const spansWaitingMax = 2_048;
const exportSpansMax = 512;
/**
 * If no other export runs, the export of a span begins at most this long after the span was added,
 * and at once if `exportSpansMax` spans wait.
 */
const exportIntervalMs = 1_000;
/** The longest time that `close` waits for the export of the remaining spans. */
const closeTimeoutMs = 1_500;

export interface SpanBuffer {
  add(span: EndedSpan): void;
  close(): Promise<void>;
}

/**
 * Exports ended spans in the background, one export at a time. Drops and counts the spans of a
 * failed export, and spans that end while the buffer is full.
 */
export function createSpanBuffer({
  loadExport,
  loadContexts,
  count,
  onFailure,
}: {
  readonly loadExport: () => Promise<SpanExport>;
  readonly loadContexts: (submissionIds: readonly string[]) => Promise<TenantContexts>;
  readonly count: (result: SpanResult, spans: number) => void;
  readonly onFailure: (error: unknown) => void;
}): SpanBuffer {
  const waiting: EndedSpan[] = [];
  let timer: NodeJS.Timeout | undefined;
  let exporting: Promise<void> | undefined;
  let isClosed = false;

  async function exportOnce(): Promise<void> {
    const spans = waiting.splice(0, exportSpansMax);
    if (spans.length === 0) return;
    try {
      const contexts = await loadContexts(subjectsOf(spans));
      const exporter = await loadExport();
      await exporter.send(spans.map((span) => placeSpan(span, contexts)));
      count('exported', spans.length);
    } catch (error) {
      count('export_failed', spans.length);
      onFailure(error);
    }
  }

  async function exportAll(): Promise<void> {
    while (waiting.length > 0) await exportOnce();
  }

  function exportWaiting(): Promise<void> {
    exporting ??= exportAll().finally(() => {
      exporting = undefined;
    });
    return exporting;
  }

  function startTimer(): void {
    if (timer !== undefined || isClosed) return;
    timer = setTimeout(() => {
      timer = undefined;
      void exportWaiting();
    }, exportIntervalMs);
    timer.unref();
  }

  return {
    add(span) {
      if (waiting.length >= spansWaitingMax) {
        count('buffer_full', 1);
        return;
      }
      waiting.push(span);
      if (waiting.length >= exportSpansMax) void exportWaiting();
      else startTimer();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      if (waiting.length === 0 && exporting === undefined) return;
      const giveUp = Promise.withResolvers<void>();
      const givingUp = setTimeout(giveUp.resolve, closeTimeoutMs);
      await Promise.race([exportWaiting().then(exportAll), giveUp.promise]);
      clearTimeout(givingUp);
    },
  };
}
