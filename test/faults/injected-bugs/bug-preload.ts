import { changeSources } from '../../support/changed-sources.ts';
import { injectedBugs } from './catalogue.ts';
import { applyEdit } from './injected-bug.ts';

/**
 * Puts the bug that `FAULTS_BUG` names into the code that the process loads. `node --import` loads
 * this module before that code.
 */
const name = process.env['FAULTS_BUG'];
const bug = injectedBugs.find((one) => one.name === name);
if (bug === undefined)
  throw new Error(`there is no injected bug ${name}; see test/faults/injected-bugs`);
const edits = Map.groupBy(bug.edits, ({ file }) => file);
changeSources(
  new Map([...edits].map(([file, own]) => [file, (text: string) => own.reduce(applyEdit, text)])),
);
