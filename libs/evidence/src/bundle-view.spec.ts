import { expect, it } from 'vitest';
import { type PayloadLine, readBundle } from '#libs/crypto';
import { packed, PEOPLE, streamOf } from '../../crypto/src/testing/given-chain.js';
import { encoded, HELD, linesOf, witnessed, witnessedBundle } from '../../crypto/src/testing/witnessed-bundle.js';
import { BundleView } from './bundle-view.js';
import { textOfPage } from './page-text.js';

const [anna = ''] = PEOPLE;
const STRANGER = 'usr_00000000000000000000000000';

const nameOf = (id: string, name: string): PayloadLine => ({ kind: 'name', type: 'user', id, name });

const viewOf = async (...names: readonly PayloadLine[]): Promise<BundleView> => {
  const lines = linesOf(witnessed.slice(0, HELD)).filter(({ kind }) => kind !== 'name' && kind !== 'told');
  const bytes = await packed(await witnessedBundle({ lines: encoded([...lines, ...names]) }));
  return BundleView.read(readBundle(streamOf([bytes])), () => false);
};

it('keeps the names of whom a deed names, and no others', async () => {
  const { names } = (await viewOf(nameOf(STRANGER, 'Nobody'), nameOf(anna, 'Anna'))).evidence;
  expect(names.of(anna)).toEqual({ id: anna, name: 'Anna', isProven: false });
  expect(names.of(STRANGER)).toEqual({ id: STRANGER, name: null, isProven: false });
});

const pageOf = async (seq: number, ...without: readonly PayloadLine['kind'][]): Promise<string> => {
  const lines = linesOf(witnessed.slice(0, HELD)).filter(({ kind }) => !without.includes(kind));
  const bytes = await packed(await witnessedBundle({ lines: encoded(lines) }));
  const view = await BundleView.read(readBundle(streamOf([bytes])), (deed) => deed.seq === seq);
  const [deed] = view.deeds;
  const found = deed === undefined ? null : view.account(deed.id);
  return found === null ? '' : textOfPage(found.page);
};

it('shows the text of a policy and the configuration of a connector, of the change that names them', async () => {
  expect(await pageOf(3)).toContain('id: "read-crm" # “free”');
  expect(await pageOf(6)).toContain('base_url: "https://crm.example"');
  expect(await pageOf(6, 'document')).toMatch(/configuration that it set:\n\s+\(not in this bundle/);
});

it('shows of a call the digest of its tool, and that what set the connector up is not there', async () => {
  const page = await pageOf(2);
  expect(page).toMatch(/tool digest +sha256:/);
  expect(page).toMatch(/configured by +a change that is not in this bundle/);
});
