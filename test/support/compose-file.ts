import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from './service.js';

/** As far as tests look at it. */
export interface ComposeService {
  readonly image: string;
  readonly build?: string;
  readonly pull_policy?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly secrets?: readonly string[];
  readonly dns_opt?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly privileged?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly deploy?: { readonly replicas?: string };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string; readonly required?: boolean }>>;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

/** A file of the repository, merge keys followed and variables left as they are written. */
export const composeFile = (name: string): ComposeFile =>
  parse(readFileSync(join(ROOT, name), 'utf8'), { merge: true }) as ComposeFile;

/** `NAME`, `NAME:-default` and `NAME:?message`, each in `${}`. Whatever else compose knows stays, and so fails to be used. */
const VARIABLE = /\$\{([A-Z_]+)(?::([-?])([^}]*))?\}/g;

/** A variable as it is written there. */
export const variable = (inner: string): string => `\${${inner}}`;

/** What compose makes of a value. @throws {Error} a variable that must be set is not */
export const interpolated = (text: string, variables: Readonly<Record<string, string>>): string =>
  text.replace(VARIABLE, (_all, name: string, operator: string | undefined, rest = '') => {
    const value = variables[name] ?? '';
    if (value !== '' || operator === undefined) return value;
    if (operator === '?') throw new Error(`${name}: ${String(rest)}`);
    return String(rest);
  });

/** The lines of an env file of compose. */
export const envFile = (name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readFileSync(join(ROOT, name), 'utf8')
      .split('\n')
      .map((line) => /^([A-Z_]+)=("?)(.*)\2$/.exec(line))
      .flatMap((found) => (found === null ? [] : [[found[1], found[3]]])),
  ) as Record<string, string>;
