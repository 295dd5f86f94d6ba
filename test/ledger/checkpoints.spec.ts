import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  consistencyProof,
  isConsistent,
  isIncluded,
  judgeCheckpoint,
  parsePublicKeyText,
  parseTlogProof,
  rootOfRange,
  SIGNATURE_TYPE,
  type Vkey,
  vkeyOf,
} from '#libs/crypto';
import { decodeEvent, type Failpoint, type OrgId, placeFailpoints } from '#libs/domain/kernel';
import {
  type LedgerEvent,
  LedgerProofs,
  LedgerInconsistent,
  type NewestCheckpoint,
  TreeMoved,
} from '#libs/domain/ledger';
import { checkpointIn, type CheckpointProcess, CheckpointScene, NO_OTHER_TREES } from '../support/checkpoint-scene.js';

let scene: CheckpointScene;
let service: CheckpointProcess;
beforeAll(async () => {
  scene = await CheckpointScene.start();
  service = scene.process();
});
afterAll(() => scene.close());
afterEach(() => placeFailpoints(null));

const NO_WITNESSES = { logs: [], witnesses: [], groups: [], quorum: 'none' };
const vkeysOf = async (origin: string, from = service): Promise<readonly Vkey[]> =>
  (await from.keys.list()).map(({ publicKey }) =>
    vkeyOf(origin, SIGNATURE_TYPE.ed25519, parsePublicKeyText(publicKey).bytes),
  );
const judged = async (note: string) => {
  const { origin } = checkpointIn(note);
  return judgeCheckpoint(Buffer.from(note), NO_WITNESSES, await vkeysOf(origin));
};
const noteOf = (made: NewestCheckpoint | null): string => made?.signed.note ?? '';
const proofsOf = ({ journal, trees, policies }: CheckpointProcess): LedgerProofs =>
  new LedgerProofs(journal, trees, NO_OTHER_TREES, policies);
const adminActions = async (org: OrgId): Promise<readonly unknown[]> =>
  (await scene.bench.ledgerOf(org)).map((recorded) => {
    const body = JSON.parse(decodeEvent<LedgerEvent>(recorded).event.data.body) as { admin: { action: string } | null };
    return body.admin?.action;
  });

describe('a checkpoint', () => {
  it('is a note that the service signed over the root of all deeds, under the origin of the organization', async () => {
    const org = await scene.organization(7);
    const made = await service.make(org);
    expect(made?.isNew).toBe(true);
    expect(checkpointIn(noteOf(made))).toMatchObject({
      origin: `governance.example/ledger/${org}`,
      size: 7,
      root: Uint8Array.from(await scene.rootOf(org, 7)),
    });
    expect(await judged(noteOf(made))).toMatchObject({ result: 'signed', quorum: 'none' });
  });

  it('is made once a size: without new deeds the last one is given again', async () => {
    const org = await scene.organization(3);
    const first = await service.make(org);
    expect(await service.make(org)).toMatchObject({ isNew: false, signed: { note: noteOf(first) } });
    expect(await scene.sizes(org)).toEqual([3]);
  });

  it('keeps the origin of the first one where the base URL changes', async () => {
    const org = await scene.organization();
    await service.make(org);
    await scene.deeds(org, 1);
    const made = await scene.process('https://elsewhere.example:8443').make(org);
    expect(made?.signed.checkpoint.origin).toBe(`governance.example/ledger/${org}`);
  });

  it.each([1, 255, 256, 257, 600])('of %i deeds has the root of RFC 6962, whatever it grew by', async (size) => {
    const org = await scene.organization();
    for (const share of [3, 2, 1]) {
      const now = await scene.bench.ledgerOf(org);
      await scene.deeds(org, Math.max(0, Math.ceil(size / share) - now.length));
      await service.make(org);
    }
    const { last } = await service.journal.tail(org);
    const signed = last?.checkpoint;
    expect(signed?.size).toBeGreaterThanOrEqual(size);
    expect(signed?.root).toEqual(Buffer.from(await scene.rootOf(org, signed?.size ?? 0)));
  });

  it('is not made for an organization without a deed', async () => {
    const org = 'org_00000000000000000000000000' as OrgId;
    expect(await service.make(org)).toBeNull();
    expect(await scene.events(org)).toEqual([]);
  });
});

describe('the chain of an organization', () => {
  it('says which key signs its checkpoints, once', async () => {
    const org = await scene.organization();
    await service.make(org);
    await scene.deeds(org, 1);
    await service.make(org);
    expect(await adminActions(org)).toEqual(['org.created', 'checkpoint_key.registered', undefined]);
    const [announced] = await scene.events(org);
    const [key] = await service.keys.list();
    expect(announced).toMatchObject({ type: 'CheckpointKeyAnnounced', data: { public_key: key?.publicKey } });
  });

  it('says when a key signs no more; until then both sign', async () => {
    const org = await scene.organization();
    await service.make(org);
    await service.keys.rotate(60_000, scene.metadata(null));
    await scene.deeds(org, 1);
    const both = checkpointIn(noteOf(await service.make(org)));
    const vkeys = await vkeysOf(both.origin);
    expect(vkeys).toHaveLength(2);
    for (const vkey of vkeys) {
      const { last } = await service.journal.tail(org);
      expect(judgeCheckpoint(Buffer.from(last?.note ?? ''), NO_WITNESSES, [vkey])).toMatchObject({ result: 'signed' });
    }
    scene.bench.clock.ms += 60_000;
    await scene.deeds(org, 1);
    const note = noteOf(await service.make(org));
    const [old, next] = vkeys as [Vkey, Vkey];
    expect(judgeCheckpoint(Buffer.from(note), NO_WITNESSES, [old])).toMatchObject({ reason: 'checkpoint_not_signed' });
    expect(judgeCheckpoint(Buffer.from(note), NO_WITNESSES, [next])).toMatchObject({ result: 'signed' });
    expect((await scene.events(org)).map(({ type }) => type)).toEqual([
      ...['CheckpointKeyAnnounced', 'CheckpointMade', 'CheckpointKeyAnnounced', 'CheckpointMade'],
      ...['CheckpointKeyWithdrawn', 'CheckpointMade'],
    ]);
  });
});

describe('a key that was lost', () => {
  const losing = async (scene: CheckpointScene, publicKey: string): Promise<void> => {
    const { kid } = parsePublicKeyText(publicKey);
    await scene.pool.query('delete from ledger.checkpoint_keys where kid = $1', [kid]);
  };

  it('and was rotated out holds up no checkpoint: the other one signs alone, and the operator is told', async () => {
    const own = await CheckpointScene.start();
    const org = await own.organization();
    const before = own.process();
    await before.make(org);
    await before.keys.rotate(600_000, own.metadata(null));
    const [old, next] = await before.keys.list();
    await losing(own, old?.publicKey ?? '');
    await own.deeds(org, 1);
    // The one that opened it keeps it in its memory.
    const living = own.process();
    const made = await living.make(org);
    const [oldVkey, nextVkey] = (await vkeysOf(checkpointIn(noteOf(made)).origin, living)) as [Vkey, Vkey];
    const judgedBy = (vkey: Vkey) => judgeCheckpoint(Buffer.from(noteOf(made)), NO_WITNESSES, [vkey]);
    expect([judgedBy(oldVkey), judgedBy(nextVkey)]).toMatchObject([
      { reason: 'checkpoint_not_signed' },
      { result: 'signed' },
    ]);
    expect((await own.events(org)).map(({ type }) => type).slice(2)).toEqual([
      ...['CheckpointKeyAnnounced', 'CheckpointKeyWithdrawn', 'CheckpointMade'],
    ]);
    expect(await living.keys.closed()).toEqual([old]);
    await own.deeds(org, 1);
    await living.make(org);
    expect(own.logger.warnings).toEqual([expect.objectContaining({ retires_at: old?.retiredAt })]);
    expect(next?.retiredAt).toBeNull();
    await own.close();
  });

  it('and is the one that stays holds up every checkpoint: nothing is signed by an old key alone', async () => {
    const own = await CheckpointScene.start();
    const org = await own.organization();
    await own.process().keys.rotate(600_000, own.metadata(null));
    await own.process().keys.rotate(600_000, own.metadata(null));
    const [, next] = await own.process().keys.list();
    await losing(own, next?.publicKey ?? '');
    await expect(own.process().make(org)).rejects.toMatchObject({ code: 'vault_unavailable' });
    expect(await own.events(org)).toEqual([]);
    await own.close();
  });
});

describe('two that sign at once', () => {
  it('make one root a size, and both answer with it', async () => {
    const org = await scene.organization(300);
    const others = Array.from({ length: 6 }, () => scene.process());
    const notes = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const made = await Promise.allSettled(others.map((other) => other.make(org)));
      for (const one of made) {
        // Whoever lost the tree to another asks again, as the next round does.
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ name: 'StoreUnavailable' });
        else notes.add(noteOf(one.value));
      }
    }
    expect(notes.size).toBe(1);
    expect(await scene.sizes(org)).toEqual([300]);
  });

  it('have one key, also where both need the first', async () => {
    const own = await CheckpointScene.start();
    const orgs = [await own.organization(), await own.organization()];
    await Promise.all(orgs.map((org) => own.process().make(org)));
    expect(await own.process().keys.list()).toHaveLength(1);
    await own.close();
  });
});

describe('a crash', () => {
  it.each<Failpoint>(['ckpt.tiles', 'ckpt.made', 'ckpt.made.ack'])(
    'at %s leaves what another process goes on from: one root a size, and no deed without a leaf',
    async (point) => {
      const org = await scene.organization(5);
      await service.make(org);
      await scene.deeds(org, 300);
      const doomed = scene.process();
      await scene.killedAt(point, () => doomed.make(org));
      const size = (await scene.bench.ledgerOf(org)).length;
      const made = await scene.process().make(org);
      expect(made?.signed.checkpoint).toMatchObject({ size, root: Buffer.from(await scene.rootOf(org, size)) });
      expect(await scene.sizes(org)).toEqual([5, size]);
    },
  );

  it('between a new key and its event leaves a key that signs nothing', async () => {
    const own = await CheckpointScene.start();
    const org = await own.organization();
    await own.killedAt('ckpt.key', () => own.process().make(org));
    const living = own.process();
    expect(await judgedBy(own, living, noteOf(await living.make(org)))).toBe('signed');
    const { rows } = await own.pool.query(`select kid from ledger.checkpoint_keys`);
    expect([rows.length, (await living.keys.list()).length]).toEqual([2, 1]);
    await own.close();
  });
});

const judgedBy = async (_own: CheckpointScene, process: CheckpointProcess, note: string): Promise<string> =>
  judgeCheckpoint(Buffer.from(note), NO_WITNESSES, await vkeysOf(checkpointIn(note).origin, process)).result;

describe('a ledger that does not continue what was signed', () => {
  const signedAt = async (size: number): Promise<OrgId> => {
    const org = await scene.organization(size);
    await service.make(org);
    return org;
  };
  const refused = async (org: OrgId, reason: string): Promise<void> => {
    const before = await scene.events(org);
    const living = scene.process();
    await expect(living.make(org)).rejects.toBeInstanceOf(LedgerInconsistent);
    expect(await living.broken.of(org)).toMatchObject({ org, reason });
    expect(await scene.events(org)).toEqual(before);
  };

  it('is a backup that was put back: nothing is signed while it is shorter', async () => {
    const org = await signedAt(10);
    await scene.cutLedger(org, 6);
    await refused(org, 'shorter');
  });

  it('is one that grew again with other deeds', async () => {
    const org = await signedAt(10);
    await scene.cutLedger(org, 6);
    await scene.deeds(org, 8);
    await refused(org, 'other_root');
  });

  it('stays so until an operator looks again, whatever is sealed meanwhile', async () => {
    const org = await signedAt(4);
    await scene.cutLedger(org, 2);
    await refused(org, 'shorter');
    await scene.deeds(org, 3);
    await refused(org, 'shorter');
    await expect(service.maker.lookAgain(org, scene.metadata(org))).rejects.toMatchObject({
      broken: { reason: 'other_root' },
    });
  });

  it.each([
    ['another body', `replace(data, '"body":"', '"body":" ')`],
    ['another hash', `regexp_replace(data, '"body_hash":"sha256:....', '"body_hash":"sha256:0000')`],
    ['no data', `'{}'`],
  ])('is one that has a deed with %s which was not signed yet', async (_, change) => {
    const org = await signedAt(2);
    await scene.deeds(org, 3);
    await scene.pool.query(`update event_store.events set data = ${change} where stream = $1 and revision = 2`, [
      `ledger-${org}`,
    ]);
    await refused(org, 'altered_deed');
  });

  it('may be accepted by an operator: a deed says so, and the next tree has an origin of its own', async () => {
    const org = await signedAt(10);
    await scene.cutLedger(org, 6);
    await refused(org, 'shorter');
    const living = scene.process();
    const made = await living.maker.acceptBreak(org, 'The disk was lost', scene.metadata(org));
    expect(made?.signed.checkpoint).toMatchObject({ origin: `governance.example/ledger/${org}/1`, size: 6 });
    expect(await living.broken.of(org)).toBeNull();
    await scene.deeds(org, 1);
    expect(await adminActions(org)).toContain('ledger.broken');
    expect(checkpointIn(noteOf(await living.make(org))).origin).toBe(`governance.example/ledger/${org}/1`);
  });

  it('is not made by accepting: where nothing is broken, nothing changes', async () => {
    const org = await signedAt(3);
    const made = await service.maker.acceptBreak(org, 'No reason', scene.metadata(org));
    expect(made).toMatchObject({ isNew: false, signed: { checkpoint: { size: 3 } } });
    expect((await scene.events(org)).map(({ type }) => type)).not.toContain('LedgerBreakAccepted');
  });
});

describe('the stored hashes', () => {
  it.each([
    ['lost', `delete from ledger.frontiers`],
    ['lost in part', `delete from ledger.tiles`],
    ['altered', `update ledger.frontiers set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1)`],
    ['altered in a full tile', `update ledger.tiles set hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1)`],
  ])('that are %s are made again from the ledger, to the same root', async (_, change) => {
    const org = await scene.organization(520);
    await service.make(org);
    await scene.deeds(org, 1);
    await scene.pool.query(`${change} where org = $1`, [org]);
    const made = await scene.process().make(org);
    const { size, root } = made?.signed.checkpoint ?? { size: 0, root: null };
    expect(root).toEqual(Buffer.from(await scene.rootOf(org, size)));
    expect(await service.broken.of(org)).toBeNull();
  });
});

describe('a comparison of the stored hashes with the ledger', () => {
  it('finds none that is another, and names each that was altered or lost', async () => {
    const org = await scene.organization(600);
    await service.make(org);
    expect(await service.trees.differences(org)).toEqual({ size: 600, tiles: [], isFrontierSame: true });
    await scene.pool.query(`delete from ledger.tiles where org = $1 and index = 1`, [org]);
    await scene.pool.query(
      `update ledger.frontiers set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1) where org = $1`,
      [org],
    );
    const tiles = [{ level: 0, index: 1 }];
    expect(await service.trees.differences(org)).toEqual({ size: 600, tiles, isFrontierSame: false });
    await service.trees.madeAnew(org, 600);
    expect(await service.trees.differences(org)).toEqual({ size: 600, tiles: [], isFrontierSame: true });
  });
});

describe('proofs', () => {
  it('bind every deed to the newest checkpoint, and the newest to every earlier tree', async () => {
    const org = await scene.organization(40);
    const { root } = (await service.make(org))?.signed.checkpoint ?? { root: new Uint8Array() };
    const leaves = await scene.leavesOf(org);
    const proofs = proofsOf(service);
    for (const [index, leafHash] of leaves.slice(0, 40).entries()) {
      const proof = parseTlogProof(Buffer.from((await proofs.ofDeed(org, index + 1)) ?? ''));
      expect(proof.index).toBe(index);
      expect(isIncluded({ index, size: 40, leafHash, root, proof: proof.proof })).toBe(true);
      const fromRoot = await scene.rootOf(org, index);
      const hashes = await proofs.consistency(org, index, 40);
      expect(isConsistent({ from: index, to: 40, fromRoot, toRoot: root, proof: hashes })).toBe(true);
    }
    expect(await proofs.ofDeed(org, 41)).toBeNull();
    await expect(proofs.consistency(org, 3, 41)).rejects.toMatchObject({ code: 'validation_failed', param: 'to' });
    await expect(proofs.consistency(org, 4, 3)).rejects.toMatchObject({ code: 'validation_failed', param: 'from' });
  });

  it('bind any range of deeds to a checkpoint that covers it', async () => {
    const org = await scene.organization(300);
    const { root } = (await service.make(org))?.signed.checkpoint ?? { root: new Uint8Array() };
    const leaves = await scene.leavesOf(org);
    for (const [first, last] of [
      [1, 300],
      [1, 1],
      [300, 300],
      [100, 257],
      [256, 257],
    ] as const) {
      const covering = await proofsOf(service).covering(org, first, last);
      const range = covering?.range ?? { first, last, size: 0, left: [], right: [] };
      expect(rootOfRange(range, leaves.slice(first - 1, last))).toEqual(root);
    }
    expect(await proofsOf(service).covering(org, 1, 301)).toBeNull();
  });

  it('are refused rather than given from hashes that do not lead to what was signed', async () => {
    const org = await scene.organization(20);
    await service.make(org);
    const { hashes } = await service.trees.stored(org);
    expect(await consistencyProof(hashes, 4, 20)).not.toEqual([]);
    await scene.pool.query(
      `update ledger.frontiers set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1) where org = $1`,
      [org],
    );
    // While they are made anew by another process.
    const { journal, trees, policies } = service;
    const moved = { stored: (each: OrgId) => trees.stored(each), mended: () => Promise.reject(new TreeMoved(org)) };
    const proofs = new LedgerProofs(journal, moved, NO_OTHER_TREES, policies);
    await expect(proofs.ofDeed(org, 20)).rejects.toMatchObject({ name: 'StoreUnavailable' });
  });
});
