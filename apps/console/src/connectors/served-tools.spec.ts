import { describe, expect, it } from 'vitest';
import { ApiError } from '../kernel/errors.ts';
import {
  acceptedOf,
  lookedAt,
  memberText,
  membersOf,
  overtakenTool,
  presentOf,
  type ServedTool,
  waitInWords,
} from './served-tools.ts';

const tool = (changes: object = {}): ServedTool =>
  ({
    object: 'connector_tool',
    name: 'search',
    status: 'changed',
    definition_digest: 'sha256:2',
    accepted_digest: 'sha256:1',
    definition: { name: 'search', description: 'New words.' },
    accepted_definition: { name: 'search', description: 'Old words.' },
    invisible_characters: null,
    changed_at: '2026-10-01T12:00:00.000Z',
    ...changes,
  }) as unknown as ServedTool;

const refusal = (changes: object = {}): ApiError =>
  new ApiError({ code: 'conflict', message: 'No.', status: 409, param: 'tools[1].definition_digest', ...changes });

describe('a definition', () => {
  it('is there, was lost, or never was', () => {
    expect(presentOf(tool())).toEqual({ is: 'stored', digest: 'sha256:2', definition: tool().definition });
    expect(presentOf(tool({ definition: null }))).toEqual({ is: 'lost', digest: 'sha256:2' });
    expect(presentOf(tool({ status: 'gone', definition_digest: null, definition: null }))).toEqual({ is: 'none' });
    expect(acceptedOf(tool({ accepted_definition: null }))).toEqual({ is: 'lost', digest: 'sha256:1' });
    expect(acceptedOf(tool({ accepted_digest: null, accepted_definition: null }))).toEqual({ is: 'none' });
  });

  it('has its members in the order of reading, whichever of two definitions has them', () => {
    const one = { annotations: {}, name: 'a', description: 'x', inputSchema: {} };
    expect(membersOf(one, { name: 'a', title: 'A', later: 1 })).toEqual([
      'title',
      'description',
      'inputSchema',
      'annotations',
      'later',
    ]);
    expect(membersOf(null, null)).toEqual([]);
  });

  it('has texts as they are, everything else as JSON, and nothing for what it does not have', () => {
    const one = { description: 'a "b"\nc', inputSchema: { type: 'object' } };
    expect(memberText(one, 'description')).toBe('a "b"\nc');
    expect(memberText(one, 'inputSchema')).toBe('{\n "type": "object"\n}');
    expect(memberText(one, 'title')).toBeNull();
  });
});

describe('what an admin accepts', () => {
  it('is what was looked at, by its digest; nobody has looked at what was lost', () =>
    expect(lookedAt([tool(), tool({ name: 'lost', definition: null })])).toEqual([
      { name: 'search', definition_digest: 'sha256:2' },
    ]));

  it('may have been changed again meanwhile: the refusal names the tool by its place', () => {
    const looked = lookedAt([tool(), tool({ name: 'other' })]);
    expect(overtakenTool(refusal(), looked)).toBe('other');
    expect(overtakenTool(refusal({ param: null }), looked)).toBeNull();
    expect(overtakenTool(refusal({ code: 'not_found' }), looked)).toBeNull();
    expect(overtakenTool(null, looked)).toBeNull();
  });
});

describe('a server that was asked too often', () => {
  const often = 'A connector is tested at most 10 times a minute. Wait as long as Retry-After says.';

  it.each([
    [1, 'Try again in 1 second.'],
    [42, 'Try again in 42 seconds.'],
    [300, 'Try again in 5 minutes.'],
    [null, 'Try again in a moment.'],
  ])('is to be asked again after %s seconds: in words, without the name of a header', (retryAfterS, words) =>
    expect(waitInWords(refusal({ code: 'rate_limited', status: 429, message: often, retryAfterS }))).toBe(
      `A connector is tested at most 10 times a minute. ${words}`,
    ),
  );
});
