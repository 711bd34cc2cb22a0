/// <reference lib="dom" />
import type { Frame, JSHandle } from 'playwright-core';
import { captions } from '../lexicon/captions.ts';
import * as context from './in-page/context.ts';
import * as dates from './in-page/dates.ts';
import * as dropdown from './in-page/dropdown.ts';
import * as facts from './in-page/facts.ts';
import * as fields from './in-page/fields.ts';
import * as groups from './in-page/groups.ts';
import * as labels from './in-page/labels.ts';
import * as masks from './in-page/masks.ts';
import * as roots from './in-page/roots.ts';
import * as states from './in-page/states.ts';
import * as uploads from './in-page/uploads.ts';
import * as visibility from './in-page/visibility.ts';

/**
 * The functions of `in-page/`. They refer to each other by name, so all are sent to the page
 * together.
 */
const modules = {
  ...visibility,
  ...labels,
  ...context,
  ...groups,
  ...states,
  ...roots,
  ...fields,
  ...dropdown,
  ...masks,
  ...dates,
  ...uploads,
  ...facts,
};
const source = `(() => {
const captions = ${JSON.stringify(captions)};
${Object.values(modules).map(String).join('\n')}
return { ${Object.keys(modules).join(', ')} };
})()`;

/** The functions of `in-page/`, in the document that a frame shows. */
type InPage = JSHandle<typeof modules>;

const known = new WeakMap<Frame, InPage>();

/**
 * Calls `use` with the functions of `in-page/`. They are long, so each document gets them once. If
 * the frame shows another document by now, `use` is called a second time.
 */
export async function inDocument<T>(frame: Frame, use: (page: InPage) => Promise<T>): Promise<T> {
  const earlier = known.get(frame);
  if (earlier !== undefined) {
    try {
      return await use(earlier);
    } catch {
      if (known.get(frame) === earlier) known.delete(frame);
    }
  }
  const page: InPage = await frame.evaluateHandle(source);
  known.set(frame, page);
  return await use(page);
}
