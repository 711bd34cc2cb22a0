import type { ElementHandle, Frame } from 'playwright-core';
import type { Adapter } from '../adapters/adapter.ts';
import type { FormField, FormModel } from '../planner/form-model.ts';
import { isForeign, roleAmong, roleOfAutocomplete, roleOfLabel } from '../planner/index.ts';
import { inDocument } from './in-page.ts';
import type { FieldReport, FormReport } from './in-page/reports.ts';

export interface FormTarget {
  readonly frame: Frame;
  readonly adapter: Adapter;
}

/** A form as it was at one moment. Its elements may have been replaced since. */
export interface ReadForm extends FormReport {
  readonly model: FormModel;
  report(key: string): FieldReport | undefined;
  /**
   * Returns the control of the field `key`. If the field is a group, returns its option at `index`.
   * Rejects if the form had no such element, or if the document was replaced.
   */
  element(key: string, index?: number): Promise<ElementHandle<HTMLElement>>;
  dispose(): Promise<void>;
}

export async function readForm({ frame, adapter }: FormTarget): Promise<ReadForm | undefined> {
  const handle = await inDocument(frame, (loaded) =>
    loaded.evaluateHandle((functions, one) => functions.readForm(one), adapter.reading),
  );
  const report = await handle.evaluate((read) => read.report);
  if (report === undefined) {
    await handle.dispose();
    return undefined;
  }
  const fields = withPartsOfNames(report.fields.map(withRole));
  const places = new Map(fields.map(({ field }, place) => [field.key, place]));
  return {
    ...report,
    fields,
    model: { fields: fields.map(({ field }) => field) },
    report: (key) => fields[places.get(key) ?? -1],
    async element(key, index = 0) {
      const place = places.get(key) ?? -1;
      const found = await handle.evaluateHandle(
        ({ elements }, [at, option]) => elements[at]?.[option],
        [place, index] as const,
      );
      const element = found.asElement();
      if (element === null) throw new Error('The field is not in the form.');
      return element;
    },
    dispose: async () => await handle.dispose(),
  };
}

function withRole(report: FieldReport): FieldReport {
  const { field, autocomplete } = report;
  const role =
    field.role ?? roleOfAutocomplete(autocomplete) ?? roleOfLabel(field.label, field.kind);
  if (role === undefined || (field.role === undefined && isForeign(field, role))) return report;
  const kindFits =
    (field.kind === 'file') === (role === 'resumeFile' || role === 'coverLetterFile');
  const fitting: FormField = kindFits ? { ...field, role } : field;
  return { ...report, field: fitting };
}

function withPartsOfNames(reports: readonly FieldReport[]): FieldReport[] {
  const roles = new Set(reports.map(({ field }) => field.role));
  return reports.map((report) => {
    const role = roleAmong(report.field, roles);
    return role === undefined ? report : { ...report, field: { ...report.field, role } };
  });
}

export async function waitForQuiet(frame: Frame, quietMs: number, limitMs: number): Promise<void> {
  try {
    await inDocument(frame, (loaded) =>
      loaded.evaluate((functions, one) => functions.waitForQuiet(one), { quietMs, limitMs }),
    );
  } catch (error) {
    // An error of a navigation is ignored. The navigation has replaced the watched document, and the
    // next read sees the new one.
    if (frame.isDetached() || !isGone(error)) throw error;
  }
}

/**
 * True for an error that occurs after the page has replaced or hidden an element, or has replaced
 * the document.
 */
export function isGone(error: unknown): boolean {
  const text = error instanceof Error ? error.message : '';
  return /not attached|detached|context was destroyed|navigat|not in the form|not visible|Cannot find context|context they were created|JSHandle is disposed|Unable to adopt/iu.test(
    text,
  );
}
