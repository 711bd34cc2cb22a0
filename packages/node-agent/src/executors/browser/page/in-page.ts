import type { ElementHandle, Frame, JSHandle } from 'playwright-core';
import * as facts from './in-page/facts.ts';
import * as fields from './in-page/fields.ts';
import * as groups from './in-page/groups.ts';
import * as labels from './in-page/labels.ts';
import * as listbox from './in-page/listbox.ts';
import * as roots from './in-page/roots.ts';
import * as states from './in-page/states.ts';
import * as uploads from './in-page/uploads.ts';
import * as visibility from './in-page/visibility.ts';

/** The functions that run in a page. They refer to each other by name. */
const modules = { ...visibility, ...labels, ...groups, ...states, ...roots, ...fields, ...listbox, ...uploads, ...facts };
const source = Object.values(modules).map(String).join('\n');

type InPage = typeof modules;
type Name = keyof InPage;

/** A function that playwright sends to the page as its text. It never runs here. */
function sent<Argument, Result>(name: Name, parameters: string) {
  const text = `(${parameters}) => {\n${source}\nreturn ${name}(${parameters});\n}`;
  const stub = (_argument: Argument): Result => {
    throw new Error('This function runs in a page.');
  };
  return Object.assign(stub, { toString: () => text });
}

/** Calls one of the functions in a frame, and returns its result by value. */
export async function callInFrame<N extends Name>(
  frame: Frame,
  name: N,
  argument: Parameters<InPage[N]>[0],
): Promise<Awaited<ReturnType<InPage[N]>>> {
  const found: unknown = await frame.evaluate(sent<unknown, unknown>(name, 'argument'), argument);
  return found as Awaited<ReturnType<InPage[N]>>;
}

/** As `callInFrame`, but leaves the result in the page. */
export async function handleInFrame<N extends Name>(
  frame: Frame,
  name: N,
  argument: Parameters<InPage[N]>[0],
): Promise<JSHandle<ReturnType<InPage[N]>>> {
  return await frame.evaluateHandle(sent<unknown, ReturnType<InPage[N]>>(name, 'argument'), argument);
}

/** Calls one of the functions with an element, and leaves the result in the page. */
export async function handleOnElement<N extends Name>(
  element: ElementHandle,
  name: N,
  argument: Parameters<InPage[N]>[1],
): Promise<JSHandle<ReturnType<InPage[N]>>> {
  const called = sent<unknown, ReturnType<InPage[N]>>(name, 'element, argument');
  return await element.evaluateHandle<ReturnType<InPage[N]>, unknown>(called, argument);
}
