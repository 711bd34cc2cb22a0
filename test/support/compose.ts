import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

/** A service of docker-compose.yml. Has only the members that tests read. */
interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly secrets?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly init?: boolean;
  readonly stop_grace_period?: string;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const file = path.resolve(import.meta.dirname, '../../docker-compose.yml');

export function readCompose(): ComposeFile {
  return parse(readFileSync(file, 'utf8'), { merge: true });
}

/**
 * Replaces `${NAME:-default}` and `${NAME:?message}` by the value of NAME in `env`. If `env` has no
 * NAME, the first form gives its default and the second throws `NAME: message`.
 */
export function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\$\{(\w+):([-?])([^}]*)\}/g,
    (_, name: string, kind: string, rest: string) => {
      const value = env[name] ?? (kind === '-' ? rest : undefined);
      if (value === undefined) throw new Error(`${name}: ${rest}`);
      return value;
    },
  );
}
