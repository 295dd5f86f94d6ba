import { expect, it } from 'vitest';
import type { DeedBody, JsonValue } from '#libs/crypto';
import { approvalAt, givenChain, PEOPLE } from '../../crypto/src/testing/given-chain.js';
import { bodyOf, saltAt, textOf } from '../../crypto/src/testing/witnessed-bundle.js';
import { accountOfAction } from './action-account.js';
import { pageOfAction } from './action-page.js';
import { BundleEvidence } from './bundle-evidence.js';
import { textOfPage } from './page-text.js';

const SEQ = 8;
/** Who signs first of all. */
const [anna = ''] = PEOPLE;

type Approval = NonNullable<ReturnType<typeof approvalAt>['approval']>;

const deedOf = (status: Parameters<typeof approvalAt>[1], change: (approval: Approval) => Approval): DeedBody => {
  const sections = approvalAt(SEQ, status);
  const approval = sections.approval === null ? null : change(sections.approval);
  const deed = givenChain(SEQ, { changeAt: (seq) => (seq === SEQ ? { ...sections, approval } : {}) }).at(-1);
  if (deed === undefined) throw new RangeError('no deed');
  return bodyOf(deed);
};

/** The page of a deed with these members opened, its white space taken together. */
const pageOf = (deed: DeedBody, values: Readonly<Record<string, JsonValue>>): string => {
  const evidence = new BundleEvidence();
  for (const [member, value] of Object.entries(values)) {
    // Not judged here, so that the commitment is of no matter.
    const commitment = deed.chain.prev_hash ?? ('' as never);
    evidence.take({
      ...{ kind: 'opened', seq: SEQ, member, commitment },
      ...{ salt: saltAt(SEQ, member), value: textOf(value) },
    });
  }
  const account = accountOfAction(evidence, [deed]);
  if (account === null) throw new RangeError('no account');
  return textOfPage(pageOfAction(account)).replace(/\s+/g, ' ');
};

it('shows a no, and its reason, of somebody who had signed before', () => {
  const denied = deedOf('denied', ({ decided_by: by, ...approval }) => ({
    ...approval,
    decided_by: by === null ? null : { ...by, id: anna },
  }));
  const page = pageOf(denied, {
    'approval.countersigned.0.reason': 'Looks right to me',
    'approval.decided_by.reason': 'It is a fraud',
  });
  expect(page).toContain('Looks right to me');
  expect(page).toContain(`denied by user ${anna}`);
  expect(page).toContain('It is a fraud');
});

it('shows who cancelled, also one who had signed', () => {
  const cancelled = deedOf('cancelled', (approval) => ({
    ...approval,
    decided_by: { type: 'user', id: anna, reason: null, assertion: null },
  }));
  expect(pageOf(cancelled, {})).toContain(`ended by user ${anna}`);
});

it('shows the last signature of an approval once', () => {
  expect(
    pageOf(
      deedOf('approved', (approval) => approval),
      {},
    ),
  ).not.toContain('ended by');
});
