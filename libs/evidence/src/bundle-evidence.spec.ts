import { expect, it } from 'vitest';
import type { DeedBody, DocumentLine, JsonValue, OpenedLine, ToldLine } from '#libs/crypto';
import { givenChain } from '../../crypto/src/testing/given-chain.js';
import { bodyOf, saltAt, textOf } from '../../crypto/src/testing/witnessed-bundle.js';
import { BundleEvidence } from './bundle-evidence.js';

const [plain] = givenChain(3).slice(-1).map(bodyOf);

const changeAt = (seq: number, action: string, id: string): DeedBody => {
  if (plain === undefined || plain.admin === null) throw new RangeError('no change');
  const issued_at = `2026-10-01T12:00:0${seq}.000Z`;
  return { ...plain, seq, issued_at, admin: { ...plain.admin, action, target: { type: 'x', id } } };
};

const DIGEST = changeAt(3, 'a.b', 'x').admin?.data_digest ?? ('' as never);

const dataOf = (seq: number, value: JsonValue): OpenedLine => ({
  ...{ kind: 'opened', seq, member: 'admin.data_digest', commitment: DIGEST },
  ...{ salt: saltAt(seq, 'data'), value: textOf(value) },
});
const TEXT = { digest: DIGEST, value: textOf('rules: []') };
const proven: DocumentLine = { kind: 'document', seq: 3, document: 'policy_source', signature: null, ...TEXT };
const told: ToldLine = { kind: 'told', document: 'policy_source', id: 'pv_2', ...TEXT };

it('takes no word of the service for a text that a change in the bundle proves', () => {
  const evidence = new BundleEvidence();
  for (const line of [dataOf(3, { version_id: 'pv_1', source_hash: DIGEST }), proven, told]) evidence.take(line);
  evidence.learn(changeAt(3, 'policy.version_added', 'pol_1'));
  const given = { value: 'rules: []' };
  expect(evidence.policyText('pv_1')).toEqual({ given, isProven: true });
  expect(evidence.policyText('pv_2')).toEqual({ given, isProven: false });
});

it('knows which change set the configuration that a connector had at a time', () => {
  const evidence = new BundleEvidence();
  evidence.take(dataOf(3, { config_hash: DIGEST, name: 'crm' }));
  evidence.take(dataOf(5, { status: 'disabled' }));
  evidence.take(dataOf(6, { config_hash: DIGEST }));
  evidence.learn(changeAt(3, 'connector.created', 'con_1'));
  for (const seq of [5, 6, 7]) evidence.learn(changeAt(seq, 'connector.updated', 'con_1'));
  const at = (second: number) => evidence.configs.at('con_1', `2026-10-01T12:00:0${second}.500Z`);
  expect(at(2)).toBeNull();
  expect([at(5)?.seq, at(6)?.seq]).toEqual([3, 6]);
  expect(at(8)).toMatchObject({ seq: 7, isSure: false });
});

it('calls an organization no more by a name that it had before it was renamed', () => {
  const evidence = new BundleEvidence();
  evidence.take(dataOf(1, { name: 'Old', owner: 'usr_1', timezone: 'UTC' }));
  evidence.take(dataOf(2, { fields: ['timezone'], timezone: 'UTC' }));
  evidence.take(dataOf(3, { fields: ['name'], timezone: 'UTC' }));
  evidence.learn(changeAt(1, 'org.created', 'org_1'));
  evidence.learn(changeAt(2, 'org.updated', 'org_1'));
  expect(evidence.names.of('org_1').name).toBe('Old');
  evidence.learn(changeAt(3, 'org.updated', 'org_1'));
  expect(evidence.names.of('org_1').name).toBeNull();
});
