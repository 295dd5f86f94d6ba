import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const CHECK = fileURLToPath(new URL('../../scripts/check-doc-links.mjs', import.meta.url));

/** Made here, so that the check of this repository does not take them for citations in this file. */
const lamp = (number: number): string => `LAMP-${number}`;
const ruleOf = (id: string, text = 'It is lit.'): string => `- <a id="${id.toLowerCase()}"></a>**${id}** ${text}`;
const numberOf = (list: string, number: string): string => `${list}-${number}`;

describe('links of the documents', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'documents-'));
  });

  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };

  const check = (): { readonly status: number | null; readonly found: readonly string[] } => {
    const { status, stdout } = spawnSync(process.execPath, [CHECK, root], { encoding: 'utf8' });
    return { status, found: status === 0 ? [] : stdout.trimEnd().split('\n') };
  };

  it('a link to a file and to a heading of it resolves', async () => {
    await write(
      'docs/gate.md',
      '# The gate\n\n## Waiting for `wait`: 0-25 s\n\n## Twice\n\n## Twice\n\nSetext\n------\n',
    );
    await write(
      'README.md',
      [
        '# Read me',
        '[file](docs/gate.md), [heading](docs/gate.md#the-gate), [code](docs/gate.md#waiting-for-wait-0-25-s)',
        '[second](docs/gate.md#twice-1) [underlined](docs/gate.md#setext) [here](#read-me) [folder](docs)',
        '[title](docs/gate.md "The gate") [angle](<docs/gate.md>) [outside](https://example.com/x#y) <mailto:a@b.c>',
        '[by name][gate]',
        '',
        '[gate]: docs/gate.md#the-gate',
      ].join('\n'),
    );
    expect(check()).toEqual({ status: 0, found: [] });
  });

  it('a link that leads nowhere is named with its file and line, and the exit code is 1', async () => {
    await write('docs/gate.md', '# The gate\n');
    await write('README.md', '# x\n\n[gone](docs/gone.md)\n[head](docs/gate.md#no)\n[self](#no)\n\n[d]: docs/no.md\n');
    expect(check()).toEqual({
      status: 1,
      found: [
        'README.md:3: link docs/gone.md: no such file',
        'README.md:4: link docs/gate.md#no: no such heading',
        'README.md:5: link #no: no such heading',
        'README.md:7: link docs/no.md: no such file',
      ],
    });
  });

  it('a repository without a README.md is a fault, not a success about nothing', () => {
    expect(check()).toEqual({ status: 1, found: ['README.md:1: no such file'] });
  });

  it('a link does not leave the repository', async () => {
    await write('README.md', '[up](../secret.md)\n');
    expect(check().found).toEqual(['README.md:1: link ../secret.md: leads out of the repository']);
  });

  it('the documents of docs, apps and libs are read at any depth', async () => {
    await write('docs/adr/0001.md', '[x](no.md)\n');
    await write('libs/domain/src/gate/README.md', '[x](no.md)\n');
    await write('apps/api/README.md', '[x](no.md)\n');
    await write('README.md', '# x\n');
    await write('libs/node_modules/other/README.md', '[x](no.md)\n');
    expect(check().found).toEqual([
      'docs/adr/0001.md:1: link no.md: no such file',
      'apps/api/README.md:1: link no.md: no such file',
      'libs/domain/src/gate/README.md:1: link no.md: no such file',
    ]);
  });

  it('a file path in backticks exists, from the repository or from beside the document', async () => {
    await write('libs/crypto/src/jcs.ts', 'export {};\n');
    await write('README.md', '# x\n');
    await write('libs/crypto/README.md', '`src/jcs.ts` `libs/crypto/src/jcs.ts:1` `src/gone.ts`\n`src/jcs.ts:9`\n');
    expect(check().found).toEqual([
      'libs/crypto/README.md:1: path src/gone.ts: no such file',
      'libs/crypto/README.md:2: path src/jcs.ts:9: no such line',
    ]);
  });

  it('what only looks like a path is left alone', async () => {
    await write(
      'README.md',
      [
        '`GET /api/openapi.yaml` `/.well-known/service/keys.json` `application/json` `manifest.json` `read/write`',
        '`libs/domain/src/<context>/index.ts` `docs/*.md` `apps/{api,worker}/src/main.ts` `dist/apps/api/src/main.js`',
        '``[code](docs/no.md)`` `[code](docs/no.md)`',
        '```sh',
        'cat docs/no.md # [x](docs/no.md)',
        '```',
      ].join('\n'),
    );
    expect(check()).toEqual({ status: 0, found: [] });
  });

  it('a line of a source file may be linked while it has that many', async () => {
    await write('libs/a.ts', 'one\ntwo\n');
    await write('README.md', '[one](libs/a.ts#L1)\n[nine](libs/a.ts#L9)\n');
    expect(check().found).toEqual(['README.md:2: link libs/a.ts#L9: no such line']);
  });

  describe('rules', () => {
    const rules = (...ids: readonly string[]): Promise<void> =>
      write('docs/rules.md', ['# Rules', '', ...ids.map((id) => ruleOf(id)), ''].join('\n'));

    beforeEach(() => write('README.md', '# x\n'));

    it('a rule that a comment, a title, a record or a page cites resolves', async () => {
      await rules(lamp(1), lamp(2), lamp(3), lamp(4), lamp(5));
      await write('libs/a.ts', `/** Lit at dusk (rule ${lamp(1)}). */\n`);
      await write('apps/console/src/b.tsx', `// Rules ${lamp(2)} and ${lamp(1)}.\n`);
      await write('test/a.spec.ts', `it('is lit (rule ${lamp(3)})', () => {});\n`);
      await write('docs/adr/0001.md', `So rule ${lamp(4)} has it.\n`);
      await write('docs/lamps.md', `[rule ${lamp(5)}](rules.md#${lamp(5).toLowerCase()})\n`);
      expect(check()).toEqual({ status: 0, found: [] });
    });

    it('a citation of a rule that is not there is named, in every kind of source', async () => {
      await rules(lamp(1));
      const files = ['apps/a.tsx', 'libs/a.ts', 'libs/b.sql', 'test/a.yaml', 'scripts/a.mjs', 'scripts/b.cjs'];
      for (const file of files) await write(file, `-- ${lamp(1)}\n-- ${lamp(99)}\n`);
      await write('docs/lamps.md', `${lamp(7)}\n`);
      await write('libs/node_modules/other/a.ts', `// rule ${lamp(99)}\n`);
      expect(check()).toEqual({
        status: 1,
        found: [
          `docs/lamps.md:1: rule ${lamp(7)}: no such rule`,
          ...files.map((file) => `${file}:2: rule ${lamp(99)}: no such rule`),
        ],
      });
    });

    it('a rule of a context that is not there is named where the word rule stands before it', async () => {
      await rules(lamp(1));
      const misspelt = lamp(1).replace('LAMP', 'LMAP');
      await write('libs/a.ts', `// rule ${misspelt}, rule ${lamp(1)}, and UTF-8 in SHA-256\n`);
      expect(check().found).toEqual([`libs/a.ts:1: rule ${misspelt}: no such rule`]);
    });

    it('a rule that nothing cites is named, and its own page cites nothing', async () => {
      await write('docs/rules.md', `${ruleOf(lamp(1))}\n${ruleOf(lamp(2), `As rule ${lamp(1)}.`)}\n`);
      await write('libs/a.ts', `// rule ${lamp(2)}\n`);
      expect(check().found).toEqual([`docs/rules.md:1: rule ${lamp(1)}: nothing cites it`]);
    });

    it('a number that stands twice, and an anchor that is not the rule’s, are named', async () => {
      await rules(lamp(1), lamp(1));
      await write('docs/more.md', `${lamp(1)}\n`);
      expect(check().found).toEqual([`docs/rules.md:4: rule ${lamp(1)}: stands twice`]);
      await write('docs/rules.md', `${ruleOf(lamp(1)).replace('lamp-1', 'lamp-2')}\n`);
      expect(check().found).toEqual([`docs/rules.md:1: rule ${lamp(1)}: has the anchor lamp-2`]);
    });

    it('numbers of invariants, faults and moments lead to the page of their list, and need no citation', async () => {
      const [invariant, fault] = [numberOf('INV', '01'), numberOf('F', '02')];
      await write('docs/chaos.md', `| ${invariant} | what breaks it |\n`);
      await write('docs/failure-modes.md', `| fleet | ${fault}: it stands still |\n`);
      await write('docs/failpoints.md', `| ${numberOf('CP', '11')} to ${numberOf('CP', '14')}: sent | x |\n`);
      await write('libs/a.ts', `// ${invariant}, ${fault}, ${numberOf('CP', '13')}\n`);
      expect(check()).toEqual({ status: 0, found: [] });
      await write('libs/a.ts', ['INV', 'F', 'CP'].map((list) => `// ${numberOf(list, '15')}\n`).join(''));
      expect(check().found).toEqual([
        `libs/a.ts:1: ${numberOf('INV', '15')}: not in docs/chaos.md`,
        `libs/a.ts:2: ${numberOf('F', '15')}: not in docs/failure-modes.md`,
        `libs/a.ts:3: ${numberOf('CP', '15')}: not in docs/failpoints.md`,
      ]);
    });
  });
});
