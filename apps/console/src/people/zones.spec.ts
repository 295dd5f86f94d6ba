import { describe, expect, it } from 'vitest';
import { placeName, zonesByPlace } from './zones.ts';

describe('zonesByPlace', () => {
  it('groups zones by part of the world, with the others at the end', () => {
    expect(zonesByPlace(['Europe/Vienna', 'America/New_York', 'Europe/Paris'], 'UTC')).toEqual([
      ['America', ['America/New_York']],
      ['Europe', ['Europe/Paris', 'Europe/Vienna']],
      ['Other', ['UTC']],
    ]);
  });

  it('keeps a zone that this browser does not know, and no zone twice', () => {
    const zones = zonesByPlace(['UTC', 'Europe/Paris'], 'Antarctica/New').flatMap(([, names]) => names);
    expect(zones).toEqual(['Antarctica/New', 'Europe/Paris', 'UTC']);
  });
});

it('placeName gives the place and the country', () => {
  expect(['Europe/Vienna', 'America/Argentina/Buenos_Aires', 'UTC'].map(placeName)).toEqual([
    'Vienna',
    'Buenos Aires, Argentina',
    'UTC',
  ]);
});
