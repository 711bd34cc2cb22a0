import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** The programs to look for on the PATH, the preferred one first (CONTRACT 10). */
const programs = ['chromium-headless-shell', 'chromium', 'google-chrome', 'chrome'];

/** On macOS, Chromium and Google Chrome are not on the PATH. These are their paths. */
const macOsPrograms = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

export interface SearchPlaces {
  /** The environment variable PATH. */
  readonly searchPath: string;
  readonly platform: NodeJS.Platform;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

export function findBrowser({ searchPath, platform }: SearchPlaces): string | undefined {
  const directories = searchPath.split(path.delimiter).filter((one) => path.isAbsolute(one));
  const files = programs.flatMap((name) => directories.map((one) => path.join(one, name)));
  return [...files, ...(platform === 'darwin' ? macOsPrograms : [])].find(isProgram);
}

export function installCommand(platform: NodeJS.Platform): string {
  return platform === 'darwin'
    ? 'brew install --cask chromium'
    : 'sudo apt-get install chromium-headless-shell';
}
