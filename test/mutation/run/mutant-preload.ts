import { readFileSync } from 'node:fs';
import { changeSources } from '../../support/changed-sources.ts';
import { mutatedFile, mutatedText } from './child-environment.ts';

/**
 * A process with the variables of `childEnvironment` loads this module first. When the process
 * loads `file`, it gets the text of `textFile`.
 */
const file = process.env[mutatedFile];
const textFile = process.env[mutatedText];
if (file === undefined || textFile === undefined)
  throw new Error('MUTATION_FILE or MUTATION_TEXT_FILE is not set');
changeSources(new Map([[file, () => readFileSync(textFile, 'utf8')]]));
