import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** The variable with the path of the replaced file, relative to the checkout. */
export const mutatedFile = 'MUTATION_FILE';
/** The variable with the path of a file that contains the replacement text. */
export const mutatedText = 'MUTATION_TEXT_FILE';

const preload = pathToFileURL(path.join(import.meta.dirname, 'mutant-preload.ts')).href;

/**
 * The variables that make a process load the text of `textFile` in place of one source file.
 * `file` is the path of the source file, relative to the checkout.
 */
export function childEnvironment(file: string, textFile: string): NodeJS.ProcessEnv {
  return {
    NODE_OPTIONS: `--import=${preload}`,
    [mutatedFile]: file,
    [mutatedText]: textFile,
  };
}
