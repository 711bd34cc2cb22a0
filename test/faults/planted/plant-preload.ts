import { changeSources } from '../../support/changed-sources.ts';
import { plantedBugs } from './catalogue.ts';
import { plant } from './planted.ts';

/**
 * Loaded into a process before its own code (`node --import`). The modules that it loads then have
 * the mutation that `FAULTS_PLANTED` names. No file is changed.
 */
const name = process.env['FAULTS_PLANTED'];
const planted = plantedBugs.find((one) => one.name === name);
if (planted === undefined) throw new Error(`there is no mutation ${name}`);
const edits = Map.groupBy(planted.edits, ({ file }) => file);
changeSources(
  new Map([...edits].map(([file, own]) => [file, (text: string) => own.reduce(plant, text)])),
);
