import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const GUIDES = readdirSync(join(ROOT, 'docs')).filter((name) => /^add-.+\.md$/.test(name));

const SOURCE = /\.(?:cjs|js|json|mjs|ts|tsx|yaml)$/;
const NOT_OURS = /(?:^|[\\/])(?:dist|node_modules|violations)(?:[\\/]|$)/;

/** Every name that the sources spell. */
const NAMES = new Set(
  ['apps', 'libs', 'scripts', 'test'].flatMap((tree) =>
    readdirSync(join(ROOT, tree), { recursive: true })
      .map(String)
      .filter((name) => SOURCE.test(name) && !NOT_OURS.test(name) && !name.endsWith('guides.spec.ts'))
      .flatMap((name) => read(join(tree, name)).match(/[A-Za-z_$][\w$]*/g) ?? []),
  ),
);

/** A name that only code has: `StopAgent`, `idOf`, `PUBLIC_EVENT_TYPES`, or a part of `deployment.commands`. */
const isName = (word: string): boolean =>
  /^(?:[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[a-z]+[A-Z][A-Za-z0-9]*|[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)$/.test(word);

/** What a guide invents stands in its sentences that begin with "The example", and nowhere in the sources. */
const inventedBy = (text: string): ReadonlySet<string> =>
  new Set((text.match(/^The example .+$/gm) ?? []).flatMap((line) => line.match(/[A-Za-z_$][\w$]*/g) ?? []));

const namedBy = (text: string): readonly string[] => {
  const code = [...text.matchAll(/^ *```ts\n([^]*?)^ *```$/gm)].map(([, block]) => block ?? '');
  const spans = [...text.replace(/^ *```[^]*?^ *```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? '');
  const words = [...code, ...spans].flatMap((part) => part.match(/[A-Za-z_$][\w$]*/g) ?? []);
  return [...new Set(words.filter(isName))];
};

describe('the guides', () => {
  it('are read', () => {
    expect(GUIDES.length).toBeGreaterThan(5);
    expect(namedBy('`StopAgent`, `idOf`, `DENY_ALL`, `deny`\n```ts\nconst madeUp = 1;\n```')).toEqual([
      'madeUp',
      'StopAgent',
      'idOf',
      'DENY_ALL',
    ]);
  });

  it.each(GUIDES)('%s names only what the sources have, and what it says that it invents', (guide) => {
    const text = read(join('docs', guide));
    const invented = inventedBy(text);
    // Listed: it was renamed or removed. Name what took its place, or begin the sentence that invents it with "The example".
    expect(namedBy(text).filter((name) => !NAMES.has(name) && !invented.has(name))).toEqual([]);
  });
});
