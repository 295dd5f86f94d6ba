import { describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import type { RecordedEvent } from '#libs/domain/kernel';
import { eventLineOf, orgOf } from './event-line.js';

const ORG = 'org_0vp6btt1cfnsfx4781mkmdakbg';
const ACTION = 'act_1evn4bssm6fs5f1q8e6zep4ap0';
const EVENT = '0f8fad5b-d9cb-869f-a165-70867728950e';

const recorded = (metadata: unknown, changes: Partial<RecordedEvent> = {}): RecordedEvent => ({
  id: EVENT,
  type: 'ActionSubmitted',
  data: '{"args":{"name":"canary"}}',
  metadata: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
  stream: `action-${ACTION}`,
  revision: 0,
  position: 7n,
  ...changes,
});

const METADATA = {
  org: ORG,
  actor: { type: 'operator', id: null },
  request_id: null,
  causation: 'a'.repeat(32),
  correlation: ACTION,
  schema: 1,
  at: '2026-10-01T12:00:00.000Z',
};

describe('the line of an event', () => {
  it('holds its place, its ids and digests, in one order', () => {
    const event = recorded(METADATA);
    expect(JSON.stringify(eventLineOf(event))).toBe(
      `{"object":"event","position":7,"stream":"action-${ACTION}","revision":0,"id":"${EVENT}",` +
        `"type":"ActionSubmitted","at":"2026-10-01T12:00:00.000Z","org":"${ORG}",` +
        `"actor":{"type":"operator","id":null},"request_id":null,"causation":"${'a'.repeat(32)}",` +
        `"correlation":"${ACTION}","source":null,"data_digest":"${digestOf(event.data)}",` +
        `"metadata_digest":"${digestOf(event.metadata)}"}`,
    );
  });

  it('names the source of a deed', () => {
    const source = { stream: `action-${ACTION}`, revision: 3, event_id: EVENT };
    expect(eventLineOf(recorded({ ...METADATA, source })).source).toEqual(source);
  });

  it('shows a name inside a stream’s name as its digest', () => {
    const { stream } = eventLineOf(recorded(METADATA, { stream: `connector-${ORG}-canary` }));
    expect(stream).toBe(`connector-${ORG}-${digestOf('canary')}`);
    expect(eventLineOf(recorded(METADATA, { stream: 'sealkeys' })).stream).toBe('sealkeys');
  });

  it('shows what is no id as its digest, the same for the same text', () => {
    const line = eventLineOf(recorded({ ...METADATA, causation: 'first-start:canary', correlation: 'canary' }));
    expect([line.causation, line.correlation]).toEqual([digestOf('first-start:canary'), digestOf('canary')]);
  });

  it.each([
    ['is no JSON', 'canary'],
    ['is no object', '"canary"'],
    ['is null', 'null'],
    [
      'says something else in every member',
      {
        org: 'canary',
        actor: { type: 'canary', id: 'canary' },
        request_id: 'canary',
        causation: { canary: 'canary' },
        correlation: ['canary'],
        at: 'canary',
        source: { stream: 'canary canary-canary', revision: 1, event_id: 'canary' },
        canary: 'canary',
      },
    ],
  ])('lets no text through where the metadata %s', (_title, metadata) => {
    const event = recorded(metadata, { type: 'canary', stream: 'canary-canary_canary', data: 'canary' });
    const line = eventLineOf(event);
    expect(JSON.stringify(line).replace('"stream":"canary-sha256', '')).not.toContain('canary');
    expect([line.type, line.org, line.at, orgOf(event)]).toEqual([null, null, null, null]);
  });
});
