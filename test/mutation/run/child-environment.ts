import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** The variable with the path of the replaced file, relative to the checkout. */
export const mutatedFile = 'MUTATION_FILE';
/** The variable with the path of a file that contains the replacement text. */
export const mutatedText = 'MUTATION_TEXT_FILE';

const preload = pathToFileURL(path.join(import.meta.dirname, 'mutant-preload.ts')).href;

/** The environment that makes a process load a replacement for the text of one file. */
export function childEnvironment(file: string, textFile: string): NodeJS.ProcessEnv {
  return {
    NODE_OPTIONS: `--import=${preload}`,
    [mutatedFile]: file,
    [mutatedText]: textFile,
  };
}
