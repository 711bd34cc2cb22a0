import { readFileSync } from 'node:fs';
import { changeSources } from '../../support/changed-sources.ts';
import { mutatedFile, mutatedText } from './child-environment.ts';

/** Each process that a test starts loads this file, and so runs the same mutant as the test. */
const file = process.env[mutatedFile];
const textFile = process.env[mutatedText];
if (file === undefined || textFile === undefined)
  throw new Error('MUTATION_FILE or MUTATION_TEXT_FILE is not set');
changeSources(new Map([[file, () => readFileSync(textFile, 'utf8')]]));
