import { expect, test } from 'vitest';
import { explainLaunch } from './launch-error.ts';

const noSandbox =
  'ERROR:zygote_host_impl_linux.cc:130] No usable sandbox! If this is a Debian system, please install the chromium-sandbox package.';

test.each([
  [noSandbox, 'The sandbox of the browser is not available. Allow user namespaces'],
  ['Running as root without --no-sandbox is not supported.', 'refuses to run as root'],
  ["ENOSPC: no space left on device, mkdir '/x'", 'The disk of the state directory is full.'],
  [
    "executable doesn't exist at /a/b",
    'There is no browser at /a/b. Give the path of a browser with --browser.',
  ],
  [
    'spawn /a/b EACCES',
    'Permission denied. Check that this user can run /a/b and write to the state directory.',
  ],
  ['/a/b: error while loading shared libraries: libnss3.so: cannot open', 'lacks a library'],
  ['something else', '/a/b does not start. Start it by hand to see why.'],
])('the message %j is explained', (message, sentence) => {
  const cause = new Error(message);
  expect(explainLaunch('/a/b', cause).message).toContain(sentence);
  expect(explainLaunch('/a/b', cause).cause).toBe(cause);
});
