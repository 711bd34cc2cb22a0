import { execFileSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { type Driver, startDriver } from './driver-process.ts';

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const pythonSource = path.join(checkoutDir, 'clients/python/src');

/**
 * The runtimes of the TypeScript client: the Node that runs the tests, and the others that
 * `CLIENT_RUNTIMES` lists.
 */
export function typescriptCommands(): readonly (readonly [string, readonly string[]])[] {
  const others: unknown = JSON.parse(process.env['CLIENT_RUNTIMES'] ?? '{}');
  return [
    [`Node ${process.versions.node}`, [process.execPath]],
    ...Object.entries(Object(others)).map(([name, words]): [string, string[]] => [
      name,
      [words].flat().map(String),
    ]),
  ];
}

/** The program in `PYTHON`, or else `python3`. Undefined if it is missing or older than 3.10. */
export function findPython(): { readonly program: string; readonly hasHttpx: boolean } | undefined {
  const program = process.env['PYTHON'] ?? 'python3';
  const question =
    'import sys, importlib.util as u; print(sys.version_info >= (3, 10), u.find_spec("httpx") is not None)';
  try {
    const [isNew, hasHttpx] = execFileSync(program, ['-c', question], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).split(/\s+/u);
    return isNew === 'True' ? { program, hasHttpx: hasHttpx === 'True' } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Starts the driver of the Python client. It uses the client's source, or the installed package if
 * `CLIENT_PYTHON_INSTALLED` is set.
 */
export function startPython(program: string, mode: 'sync' | 'async'): Driver {
  const command = [program, path.join(import.meta.dirname, 'driver.py'), mode];
  const isInstalled = process.env['CLIENT_PYTHON_INSTALLED'] !== undefined;
  const env = {
    ...(isInstalled ? {} : { PYTHONPATH: pythonSource }),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  return startDriver(`Python ${mode}`, command, { cwd: import.meta.dirname, env });
}
