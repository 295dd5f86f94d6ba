import { describe, expect, it } from 'vitest';
import { digestOf, digestOfJson } from '#libs/crypto';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import { givenFor, NOW } from '../../../../test/support/given.js';
import type { EventEnvelope } from '../kernel/index.js';
import { adminActOf } from './admin-deed.js';
import { sealedFileDecider } from './sealed-file.decider.js';
import type { FileEvent } from './sealed-file.events.js';

const given = givenFor(sealedFileDecider);
const file = { sha256: digestOf('report'), bytes: 6, media_type: 'application/pdf', label: 'Q3 report' } as const;
const seal = (changes: object = {}) => ({ type: 'SealFile', data: { org: ORG, ...file, ...changes } }) as const;
const sealed: FileEvent = { type: 'FileSealed', data: { org: ORG, ...file, at: NOW } };

describe('a file', () => {
  it('is sealed once for each request, and a retried request changes nothing', () => {
    given().when(seal()).then(sealed);
    given(sealed).when(seal()).thenNothing();
  });

  it.each(['a', 'é'.repeat(120), '😀'.repeat(120), ' ', 'a\u200db'])('may have the label %j', (label) => {
    expect(given().when(seal({ label })).events()).toMatchObject([{ data: { label } }]);
  });

  it.each([
    '',
    'a'.repeat(121),
    'two\nlines',
    'two\rlines',
    'two\u2028lines',
    'two\u2029lines',
    'two\u0085lines',
    '\0',
  ])('may not have the label %j', (label) => given().when(seal({ label })).thenRefuses('validation_failed', 'label'));

  it('has a deed that names it by its digest, with the label as reason and all four fields under its data digest', () => {
    const act = adminActOf({ event: sealed, metadata: {}, recorded: {} } as EventEnvelope);
    expect(act).toEqual({
      action: 'file.sealed',
      target: { type: 'file', id: file.sha256 },
      reason: 'Q3 report',
      data: file,
    });
    expect(digestOfJson(act!.data)).toBe(
      digestOf(`{"bytes":6,"label":"Q3 report","media_type":"application/pdf","sha256":"${file.sha256}"}`),
    );
  });
});
