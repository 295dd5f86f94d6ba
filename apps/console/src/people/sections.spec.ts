import { describe, expect, it } from 'vitest';
import { SECTIONS, sectionOf } from './sections.ts';

describe('sectionOf', () => {
  it.each(SECTIONS.map(({ id }) => id))('knows %s', (id) => {
    expect(sectionOf(id)?.id).toBe(id);
  });

  it('has a webhook below the webhooks', () => {
    expect(sectionOf('whk_01h2xcejqtf2nbrexx3vqjhp47')?.id).toBe('webhooks');
  });

  it.each(['', 'nothing', 'whk_short', 'act_01h2xcejqtf2nbrexx3vqjhp47', 'constructor'])('has none for %j', (place) => {
    expect(sectionOf(place)).toBeUndefined();
  });
});
