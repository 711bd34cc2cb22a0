/** A browser could not be started. The message tells the node owner what to do. */
export class CannotStartBrowser extends Error {
  override readonly name = 'CannotStartBrowser';
}

interface Cause {
  readonly seen: RegExp;
  readonly advice: (binary: string) => string;
}

const causes: readonly Cause[] = [
  {
    seen: /ENOSPC|No space left on device/u,
    advice: () => 'The disk of the state directory is full. Free some space on this disk.',
  },
  {
    seen: /Running as root without --no-sandbox/u,
    advice: () => 'The browser refuses to run as root. Run svc-node as a user without privileges.',
  },
  {
    seen: /No usable sandbox|SUID sandbox|namespace|sandbox_host_linux|credentials\.cc|zygote_host/iu,
    advice: () =>
      'The sandbox of the browser is not available. Allow user namespaces ' +
      '(sudo sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0), ' +
      'or install the package chromium-sandbox.',
  },
  {
    seen: /executable doesn't exist|ENOENT/u,
    advice: (binary) =>
      `There is no browser at ${binary}. Give the path of a browser with --browser.`,
  },
  {
    seen: /EACCES/u,
    advice: (binary) =>
      `Permission denied. Check that this user can run ${binary} and write to the state directory.`,
  },
  {
    seen: /error while loading shared libraries: (\S+?):/u,
    advice: (binary) =>
      `The system lacks a library that ${binary} needs. Install the browser as a system package.`,
  },
];

export function explainLaunch(binary: string, error: unknown): CannotStartBrowser {
  const text = error instanceof Error ? error.message : String(error);
  const known = causes.find(({ seen }) => seen.test(text));
  const message = known?.advice(binary) ?? `${binary} does not start. Start it by hand to see why.`;
  return new CannotStartBrowser(message, { cause: error });
}
