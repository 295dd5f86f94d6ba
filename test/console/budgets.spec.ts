import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

/** The result of `npm run build`, which `npm test` runs first. */
const FOLDER = join(ROOT, 'dist', 'console');

const KB = 1_000;
const FIRST_SCRIPT_MAX = 120 * KB;
const FIRST_STYLE_MAX = 15 * KB;
const SCREEN_MAX = 20 * KB;
/** The editor of policies, which is loaded when a policy is opened. */
const EDITOR_MAX = 150 * KB;

const page = readFileSync(join(FOLDER, 'index.html'), 'utf8');
/** The files that the page names, which the browser loads before it draws anything. */
const first = [...page.matchAll(/(?:src|href)="\/app\/assets\/([^"]+)"/g)].map(([, name]) => name as string);
const all = readdirSync(join(FOLDER, 'assets')).filter((name) => /[.](js|css)$/.test(name));

const compressed = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + statSync(join(FOLDER, 'assets', `${name}.gz`)).size, 0);
const ending = (end: string): readonly string[] => first.filter((name) => name.endsWith(end));

describe('what a browser loads, gzipped,', () => {
  it('is at most 120 KB of scripts and 15 KB of styles before anything is drawn', () => {
    expect(ending('.js').length).toBeGreaterThan(1);
    expect(ending('.css').length).toBeGreaterThan(0);
    expect(compressed(ending('.js'))).toBeLessThanOrEqual(FIRST_SCRIPT_MAX);
    expect(compressed(ending('.css'))).toBeLessThanOrEqual(FIRST_STYLE_MAX);
  });

  const isEditor = (name: string): boolean => name.startsWith('code-editor-');

  it.each(all.filter((name) => !first.includes(name) && !isEditor(name)))('is at most 20 KB more for %s', (name) => {
    expect(compressed([name])).toBeLessThanOrEqual(SCREEN_MAX);
  });

  it('is at most 150 KB for the editor, in one file', () => {
    const editor = all.filter(isEditor);
    expect(editor).toHaveLength(1);
    expect(compressed(editor)).toBeLessThanOrEqual(EDITOR_MAX);
  });

  it('has Stop and the approval card in the first load', () => {
    const text = ending('.js')
      .map((name) => readFileSync(join(FOLDER, 'assets', name), 'utf8'))
      .join('');
    expect(text).toContain('/v1/org/stop');
    expect(text).toContain('All arguments');
    expect(all.map((name) => name.split('-')[0])).toEqual(expect.arrayContaining(['actions', 'agents', 'overview']));
  });
});

describe('the page', () => {
  it('has no inline script or style, and loads only served files', () => {
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|<script(?![^>]*\ssrc=)/i);
    for (const name of first) expect(all).toContain(name);
  });

  it('sets the chosen theme before any other script runs', () => {
    const scripts = [...page.matchAll(/<script([^>]*)>/g)].map(([, attributes]) => attributes as string);
    expect(scripts[0]).toMatch(/^ src="\/app\/assets\/boot-[0-9a-f]{8}\.js"$/);
    expect(scripts[1]).toContain('type="module"');
  });
});

describe('the styles', () => {
  it('keep light-dark() unchanged: transpiled, it would not follow a chosen theme', () => {
    const styles = all.filter((name) => name.endsWith('.css'));
    const text = styles.map((name) => readFileSync(join(FOLDER, 'assets', name), 'utf8')).join('');
    expect(text).toContain('light-dark(');
    expect(text).not.toContain('--lightningcss-light');
  });
});
