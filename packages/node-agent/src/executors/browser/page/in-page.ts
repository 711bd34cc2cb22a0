/// <reference lib="dom" />
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
const source = [
  `const captions = ${JSON.stringify(captions)};`,
  ...Object.values(modules).map(String),
].join('\n');

function textOf(name: string, parameters: string): string {
  return `(${parameters}) => {\n${source}\nreturn ${name}(${parameters});\n}`;
}

function runsInPage(): never {
  throw new Error('This function works only in a page.');
}

/**
 * Makes a stub in place of `run`, because Playwright sends only the text of a function to the page.
 * The text of the stub has all of `modules` and a call of `run`.
 */
function inFrame<Argument, Result>(
  run: (argument: Argument) => Result,
): (argument: Argument) => Result {
  const stub = (_argument: Argument): Result => runsInPage();
  return Object.assign(stub, { toString: () => textOf(run.name, 'argument') });
}

function onElement<Argument, Result>(
  run: (element: HTMLElement, argument: Argument) => Result,
): (element: HTMLElement, argument: Argument) => Result {
  const stub = (_element: HTMLElement, _argument: Argument): Result => runsInPage();
  return Object.assign(stub, { toString: () => textOf(run.name, 'element, argument') });
}

export const readFormInPage = inFrame(fields.readForm);
export const findControlsInPage = inFrame(roots.findControls);
export const findEntryInPage = inFrame(roots.findEntry);
export const matchRootsInPage = inFrame(roots.matchRoots);
export const hasRootInPage = inFrame(roots.hasRoot);
export const challengeInPage = inFrame(facts.challengeOf);
export const readFactsInPage = inFrame(facts.readFacts);
export const waitForQuietInPage = inFrame(facts.waitForQuiet);
export const takeSnapshotInPage = inFrame(dropdown.takeSnapshot);
export const readChoicesOf = onElement(dropdown.readChoices);
export const boxOfControl = onElement(dropdown.boxOf);
export const searchFieldOfControl = onElement(dropdown.searchFieldOf);
export const shownByControl = onElement(dropdown.shownBy);
export const raiseGuardInPage = inFrame(dropdown.raiseGuard);
export const readUploadOf = onElement(uploads.readUpload);
